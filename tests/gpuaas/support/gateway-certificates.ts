import 'reflect-metadata';
import { webcrypto } from 'node:crypto';
import {
  ExtendedKeyUsageExtension,
  SubjectAlternativeNameExtension,
  X509CertificateGenerator,
} from '@peculiar/x509';
import type { Authority } from '../../../fixtures/gpuaas/pki/authority.ts';

const ALGORITHM = { name: 'ECDSA', namedCurve: 'P-256' };
const SIGNATURE = { name: 'ECDSA', hash: 'SHA-256' };
const CLIENT_AUTH = '1.3.6.1.5.5.7.3.2';
const HOUR = 3_600_000;

export interface ClientMaterial {
  cert: string;
  key: string;
}

/**
 * A node's client certificate, as the platform's node CA signs them; `untilMs` in the past makes an
 * expired one.
 */
export async function clientFor(
  authority: Authority,
  node: string,
  untilMs = HOUR,
): Promise<ClientMaterial> {
  const keys = (await webcrypto.subtle.generateKey(ALGORITHM, true, [
    'sign',
    'verify',
  ])) as webcrypto.CryptoKeyPair;
  const certificate = await X509CertificateGenerator.create({
    serialNumber: '4a5b6c',
    subject: `CN=${node}`,
    issuer: authority.subject,
    notBefore: new Date(Date.now() - 2 * HOUR),
    notAfter: new Date(Date.now() + untilMs),
    publicKey: keys.publicKey as CryptoKey,
    signingKey: authority.signingKey as CryptoKey,
    signingAlgorithm: SIGNATURE,
    extensions: [
      new ExtendedKeyUsageExtension([CLIENT_AUTH]),
      new SubjectAlternativeNameExtension([{ type: 'url', value: `gpuaas:node:${node}` }]),
    ],
  });
  const der = Buffer.from(await webcrypto.subtle.exportKey('pkcs8', keys.privateKey)).toString(
    'base64',
  );
  return {
    cert: certificate.toString('pem'),
    key: `-----BEGIN PRIVATE KEY-----\n${der}\n-----END PRIVATE KEY-----\n`,
  };
}
