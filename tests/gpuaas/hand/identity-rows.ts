// What happens to a node's identity: its certificate, its token, its standing with the platform,
// the room to keep a new one.
import { expect } from 'vitest';
import type { Row } from '../support/row.ts';
import { attached, diagnostic, history, journal, log, readModel } from '../support/witnesses.ts';
import type { World } from '../support/world.ts';
import { cannotWrite, fillRoot, freeRoot, requests, restart, unit } from './common.ts';
import * as places from './places.ts';

/** The platform's own CA makes a certificate for the node's key that was over long ago. */
async function makeExpired(world: World): Promise<string> {
  const csr = await world.must(
    'node-1',
    'openssl req -new -key /etc/gpuaas/key.pem -subj /CN=node-1 -addext "subjectAltName=URI:gpuaas:node:node-1"',
  );
  const lines = [
    'set -e; d=$(mktemp -d); cd $d; cat > csr; : > index; echo 01 > serial',
    "printf '[ca]\\ndefault_ca=c\\n[c]\\ndatabase=index\\nserial=serial\\nnew_certs_dir=.\\ndefault_md=sha256\\npolicy=p\\ncopy_extensions=copy\\nx509_extensions=x\\n[p]\\ncommonName=supplied\\n[x]\\nextendedKeyUsage=clientAuth\\n' > cnf",
    'openssl ca -batch -config cnf -cert /etc/gpuaas-api/node-ca.crt -keyfile /etc/gpuaas-api/node-ca.key -in csr -out out -notext -startdate 20260101000000Z -enddate 20260102000000Z 2>/dev/null',
    'cat out; cd /; rm -r $d',
  ];
  const made = await world.docker(
    'exec',
    '-u',
    '0',
    world.container('api'),
    'sh',
    '-c',
    lines.join('; ').replace('cat > csr', `printf '%s' "$0" > csr`),
    csr,
  );
  if (made.code !== 0) throw new Error(`no expired certificate: ${made.err}`);
  return made.out;
}
async function installExpired(world: World): Promise<void> {
  const cert = await makeExpired(world);
  await world.must(
    'node-1',
    `cp -a /etc/gpuaas/cert.pem /root/cert.kept && printf '%s\\n' '${cert}' > /etc/gpuaas/cert.pem`,
  );
  await restart(world);
}
const withToken: Row = {
  name: 'node certificate expired, with a valid recovery token',
  right: ['healthy'],
  breakIt: installExpired,
  putBack: (world) => world.must('node-1', 'rm -f /root/cert.kept'),
  witnesses: [
    history(
      'recovering',
      (event) => event.user_state === 'recovering' && event.reason === 'cert_expired',
    ),
    journal(/cert_expired/),
    log('ingress', /"uri":"\/internal\/v1\/enroll","status":201,"server_port":"8451"/),
  ],
};
const withoutToken: Row = {
  name: 'node certificate expired, with no recovery token',
  right: [places.authFailed('recovery_token_missing')],
  breakIt: async (world) => {
    await world.must(
      'node-1',
      "cp -a /etc/gpuaas/env /root/env.kept && sed -i '/^GPUAAS_ENROLLMENT_TOKEN=/d' /etc/gpuaas/env",
    );
    await installExpired(world);
  },
  putBack: (world) =>
    world.must(
      'node-1',
      `cat /root/env.kept > /etc/gpuaas/env; cat /root/cert.kept > /etc/gpuaas/cert.pem; rm -f /root/*.kept; systemctl restart ${unit}`,
    ),
  witnesses: [
    diagnostic('recovery_token_missing', (current) => current.reason === 'recovery_token_missing'),
    journal(/recovery_token_missing/),
    attached(
      'recovery_token_missing, operator_action_required',
      ({ recovery }) =>
        recovery.reason === 'recovery_token_missing' &&
        recovery.user_state === 'operator_action_required',
    ),
  ],
};
const revoked: Row = {
  name: 'identity revoked',
  right: [places.authFailed('identity_revoked_or_fenced')],
  breakIt: (world) => world.api('POST', '/v1/nodes/node-1/revoke', world.operatorToken, {}),
  putBack: (world) => world.api('POST', '/v1/nodes/node-1/restore', world.operatorToken, {}),
  witnesses: [
    readModel(
      'identity_revoked_or_fenced',
      (model) =>
        model.recovery.reason === 'identity_revoked_or_fenced' &&
        model.recovery.user_state === 'operator_action_required',
    ),
    diagnostic('identity_revoked', (current) => current.reason === 'identity_revoked'),
    journal(/identity_revoked/),
    log('ingress', /"uri":"\/internal\/v1\/nodes\/node-1\/tasks\/wait[^"]*","status":403/),
  ],
};
const onFullDisk: Row = {
  name: 'certificate expired on a full disk',
  right: [places.diskFull('no_space')],
  breakIt: async (world) => {
    const cert = await makeExpired(world);
    // Prepared beside the old one: on a full disk only a rename still works.
    await world.must(
      'node-1',
      `systemctl stop ${unit} && cp -a /etc/gpuaas/cert.pem /etc/gpuaas/cert.over`,
    );
    await world.must('node-1', `printf '%s\\n' '${cert}' > /etc/gpuaas/cert.over`);
    await fillRoot(world);
    await world.must(
      'node-1',
      `mv /etc/gpuaas/cert.over /etc/gpuaas/cert.pem && systemctl start ${unit}`,
    );
  },
  // Freed is enough: the token is valid, and what comes next is the agent's own business.
  putBack: freeRoot,
  witnesses: [
    journal(/"reason":"recovery_enrollment_blocked","phase":"app","code":"ENOSPC"/),
    cannotWrite,
    readModel(
      'no heartbeat, temporary',
      ({ heartbeat, recovery }) => heartbeat.stale && recovery.user_state === 'temporary',
    ),
  ],
  afterwards: async (world, since) => {
    const enrolled = (await requests(world, since)).filter(
      ({ uri, server_port }) => uri === '/internal/v1/enroll' && server_port === '8451',
    );
    expect(
      enrolled.map(({ status }) => status),
      'enrolments of the node',
    ).toEqual([201]);
  },
};

export const identityRows = [withToken, withoutToken, revoked, onFullDisk];
