// The agent's pure parts, the older release and the repair bundle.
import { execFileSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  applyBundle,
  mergeEnv,
  parseBundle,
} from '../../../fixtures/gpuaas/node-agent/apply-bundle.ts';
import { Backoff } from '../../../fixtures/gpuaas/node-agent/backoff.ts';
import { classifyAnswer, classifyError } from '../../../fixtures/gpuaas/node-agent/classify.ts';
import { type Answer, CallError } from '../../../fixtures/gpuaas/node-agent/http.ts';
import { parseVerifiers } from '../../../fixtures/gpuaas/node-agent/settings.ts';
import { parseResize } from '../../../fixtures/gpuaas/node-agent/terminal/session.ts';
import { makeAuthority } from '../../../fixtures/gpuaas/pki/authority.ts';

const SOURCES = join(import.meta.dirname, '../../../fixtures/gpuaas/node-agent');
let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'agent-parts-'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const answer = (change: Partial<Answer>): Answer => ({
  status: 200,
  product: null,
  json: null,
  text: '',
  date: null,
  askedForCertificate: true,
  ...change,
});

describe('classification', () => {
  test.each([
    ['CERT_HAS_EXPIRED', 'tls', 'server_tls_untrusted', 'CERT_HAS_EXPIRED'],
    ['ERR_TLS_CERT_ALTNAME_INVALID', 'tls', 'server_tls_untrusted', 'ERR_TLS_CERT_ALTNAME_INVALID'],
    [
      'ERR_SSL_SSL/TLS_ALERT_CERTIFICATE_EXPIRED',
      'tls',
      'task_poll_failed',
      'client_cert_rejected',
    ],
    ['ERR_SSL_TLSV1_ALERT_UNKNOWN_CA', 'http', 'task_poll_failed', 'client_cert_rejected'],
    ['ECONNRESET', 'tls', 'task_poll_failed', 'ECONNRESET'],
    ['ETIMEDOUT', 'tcp', 'task_poll_failed', 'ETIMEDOUT'],
    ['EAI_AGAIN', 'dns', 'task_poll_failed', 'EAI_AGAIN'],
  ] as const)('%s at %s', (code, phase, reason, named) => {
    expect(
      classifyError(new CallError(phase, code, 'text'), 'target', 'task_poll_failed'),
    ).toMatchObject({ reason, code: named });
  });

  const revoked = { error: { code: 'node_identity_revoked' } };
  test.each([
    [answer({ status: 403, product: 'api', json: revoked }), 'identity_revoked'],
    [
      answer({ status: 403, product: 'api', json: revoked, askedForCertificate: false }),
      'endpoint_profile_drift',
    ],
    [answer({ status: 403 }), 'endpoint_profile_drift'],
    [answer({ status: 302, askedForCertificate: false }), 'endpoint_profile_drift'],
    [answer({ status: 200, text: '<html>' }), 'endpoint_profile_drift'],
    [answer({ status: 429 }), 'edge_rate_limited'],
    [answer({ status: 502 }), 'task_poll_failed'],
    [answer({ status: 503, product: 'api' }), 'task_poll_failed'],
    [answer({ status: 400 }), 'task_poll_failed'],
  ] as const)('%#', (given, reason) => {
    expect(classifyAnswer(given, 'target', 'task_poll_failed').reason).toBe(reason);
  });
});

test('backoff grows, is bounded and has jitter', () => {
  const low = new Backoff(2000, () => 0);
  const high = new Backoff(2000, () => 1);
  const steps = Array.from({ length: 6 }, () => [low.next(), high.next()]);
  expect(steps).toEqual([
    [125, 250],
    [250, 500],
    [500, 1000],
    [1000, 2000],
    [1000, 2000],
    [1000, 2000],
  ]);
  low.reset();
  expect(low.next()).toBe(125);
});

test('verifier keys: several, and nonsense is left out', () => {
  const raw = Buffer.alloc(32, 7).toString('base64');
  expect(parseVerifiers(`a:${raw}, b:${raw},c:short,,:${raw}`).map((key) => key.keyId)).toEqual([
    'a',
    'b',
  ]);
});

test.each([
  ['{"type":"resize","cols":120,"rows":40}', { cols: 120, rows: 40 }],
  ['{"type":"resize","cols":0,"rows":40}', null],
  ['{"type":"resize","cols":501,"rows":40}', null],
  ['{"type":"resize","cols":"80","rows":40}', null],
  ['{"type":"resize"}', null],
  ['null', null],
  ['not json', null],
])('resize %s', (text, size) => expect(parseResize(text)).toEqual(size));

describe('older release', () => {
  test('its patch applies to the sources and makes another version', () => {
    const copy = join(folder, 'patched');
    cpSync(SOURCES, copy, { recursive: true });
    execFileSync('patch', [
      '-s',
      '-p1',
      '-F0',
      '-d',
      copy,
      '-i',
      join(SOURCES, 'releases/agent-2026-05-20.patch'),
    ]);
    expect(readFileSync(join(copy, 'version.ts'), 'utf8')).toContain("'2026.05.20'");
    expect(readFileSync(join(copy, 'terminal/open.ts'), 'utf8')).not.toEqual(
      readFileSync(join(SOURCES, 'terminal/open.ts'), 'utf8'),
    );
  });
});

describe('repair bundle', () => {
  const bundle = async (change: Record<string, unknown> = {}) => {
    const { certificate } = await makeAuthority('Service CA');
    const env = { GPUAAS_API_URL: 'https://new.test', GPUAAS_EXTRA: 'x' };
    return JSON.stringify({
      env,
      ca_bundle: certificate,
      recovery_ca: certificate,
      enrollment_token: 'fresh',
      ...change,
    });
  };
  const OLD =
    'GPUAAS_NODE_ID=node-1\nGPUAAS_API_URL=https://old.test\nGPUAAS_ENROLLMENT_TOKEN=spent\n';

  test('rewrites what it names and keeps the rest', async () => {
    expect(mergeEnv(OLD, parseBundle(await bundle()))).toBe(
      'GPUAAS_NODE_ID=node-1\nGPUAAS_API_URL=https://new.test\nGPUAAS_ENROLLMENT_TOKEN=fresh\nGPUAAS_EXTRA=x\n',
    );
  });

  test('is put in place with the modes that the files need', async () => {
    for (const name of ['env', 'ca-bundle.crt', 'recovery-ca.crt'])
      writeFileSync(join(folder, name), name === 'env' ? OLD : 'stale');
    applyBundle(parseBundle(await bundle()), folder);
    expect(readFileSync(join(folder, 'ca-bundle.crt'), 'utf8')).toContain('BEGIN CERTIFICATE');
    expect(statSync(join(folder, 'env')).mode & 0o777).toBe(0o640);
  });

  test.each([
    ['no certificates', { ca_bundle: 'none' }],
    [
      'a certificate that is none',
      { ca_bundle: '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n' },
    ],
    ['a setting over two lines', { env: { GPUAAS_API_URL: 'a\nGPUAAS_NODE_ID=other' } }],
    ["a setting that is not the platform's", { env: { LD_PRELOAD: '/tmp/x.so' } }],
    ['no token', { enrollment_token: '' }],
    ['no env', { env: null }],
  ])('with %s is refused', async (_what, change) => {
    const text = await bundle(change);
    expect(() => parseBundle(text)).toThrow();
  });
});
