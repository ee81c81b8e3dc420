// A killed run whose ledger nobody has: another user's, or one on a lost disk. What it left is found
// by its marks on the targets and taken back.
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { bootId } from '../../../harness/base/owner.ts';
import { engineId } from '../../../harness/drivers/engine-id.ts';
import { armedDir, ledgerDir } from '../../../harness/undo/paths.ts';
import { byHand, hopdrill, leftOnTargets } from '../support/proof.ts';
import { breakAndDie, freshRun, marksOfRun, stack, stateDir } from '../support/undo.ts';
import { World } from '../support/world.ts';

type Row = readonly [
  what: string,
  fault: string,
  params: Record<string, unknown>,
  look: () => string,
];

/** Breaks, dies, and loses the ledger and the lease with it. */
async function breakAndLose(run: string, fault: string, params: Record<string, unknown>) {
  const at = { stack, point: 'applied', run, leaseSeconds: 3 };
  expect(await breakAndDie(at, { fault, params })).toBe('SIGKILL');
  rmSync(ledgerDir(stateDir, await engineId(), run), { recursive: true });
  rmSync(join(armedDir(stateDir, await engineId(), stack), run), { force: true });
}

const undo = () => hopdrill(['undo', '--stack', stack]);
const file = (part: string, path: string) => () => byHand(part, `sha256sum ${path} || true`);

describe.skipIf(stack === '')('without its ledger', () => {
  afterEach(async () => {
    expect(await leftOnTargets()).toEqual([]);
    await new World(stack).untilGreen(60);
  });

  const parts: readonly Row[] = [
    [
      'a rule at the edge',
      'http.refuse',
      { at: 'edge', method: 'GET', path: '/v1/nodes/*' },
      file('edge', '/etc/nginx/conf.d/api.conf'),
    ],
    [
      'a rule at the ingress',
      'http.refuse',
      { at: 'ingress', method: 'GET', path: '/v1/none' },
      () => byHand('ingress', 'ls /etc/nginx/node-api.d'),
    ],
    [
      'a route that is gone',
      'edge.route-remove',
      { host: 'terminal' },
      file('edge', '/etc/nginx/conf.d/terminal.conf'),
    ],
    [
      'a header that is lost',
      'websocket.upgrade-strip',
      { strip: 'upgrade' },
      file('edge', '/etc/nginx/conf.d/terminal.conf'),
    ],
    [
      'a strange CA',
      'tls.trust-ca',
      { part: 'gateway' },
      file('gateway', '/etc/gpuaas-gateway/client-ca.crt'),
    ],
    [
      'a record of the name server',
      'dns.break',
      { mode: 'nxdomain' },
      file('dns', '/var/lib/bind/node-1.zone'),
    ],
  ];
  test.each(parts)('%s is put back from the note in the part', async (_, fault, params, look) => {
    const run = freshRun('lost');
    const before = look();
    await breakAndLose(run, fault, params);
    expect(look()).not.toBe(before);
    expect((await marksOfRun(run)).join()).toContain(fault);
    const { exitCode, stdout } = await undo();
    expect([exitCode, stdout.includes(`${fault} of run ${run}: removed`)], stdout).toEqual([
      0,
      true,
    ]);
    expect(look()).toBe(before);
    // A node that was merely asked has a dead-man too; it goes when its lease is over.
    await expect.poll(() => marksOfRun(run), { timeout: 15_000 }).toEqual([]);
  });

  const nodes: readonly (readonly [string, string, Record<string, unknown>])[] = [
    ['a unit that kills the agent', 'process.kill', {}],
    ['a login script', 'pty.delay', {}],
    ['a rule', 'egress.block', { to: 'term', mode: 'reject' }],
  ];
  test.each(nodes)('%s is removed, also when the dead-man is gone', async (_, fault, params) => {
    const run = freshRun('lost');
    await breakAndLose(run, fault, params);
    byHand(
      'node-1',
      `systemctl stop hopdrill-${run}.service; rm -rf /var/lib/hopdrill/${run} /etc/systemd/system/hopdrill-${run}.service /etc/systemd/system/multi-user.target.wants/hopdrill-${run}.service; systemctl daemon-reload; rmdir /var/lib/hopdrill 2>/dev/null; true`,
    );
    expect(await marksOfRun(run)).toHaveLength(1);
    const { exitCode, stdout } = await undo();
    expect([exitCode, stdout.includes(`of run ${run}: removed`)], stdout).toEqual([0, true]);
    expect(await marksOfRun(run)).toEqual([]);
  });

  test('a note whose run goes on is left alone', async () => {
    const run = freshRun('alive');
    const note = JSON.stringify({
      ...{ type: 'run', v: 2, run, at: '', stack, engine: '', lease_seconds: 9, deadman: true },
      owner: { pid: process.pid, start_time: '', boot_id: bootId() },
      targets: { stack, nodes: {}, parts: {} },
    });
    byHand(
      'edge',
      `mkdir -p /var/lib/hopdrill/${run}; echo '${note}' > /var/lib/hopdrill/${run}/undo.jsonl`,
    );
    const { exitCode, stdout } = await undo();
    expect([exitCode, stdout.includes(`of run ${run}: in use`)], stdout).toEqual([0, true]);
    byHand('edge', 'rm -r /var/lib/hopdrill');
  });

  test('a file in a part that nobody knows anything of is named, and not passed over', async () => {
    const left = `/etc/nginx/snippets/hopdrill-${freshRun('older')}-0.conf`;
    byHand('edge', `touch ${left}`);
    const named = await undo();
    byHand('edge', `rm ${left}`);
    expect([named.exitCode, named.stdout.includes(`file ${left}`)], named.stdout).toEqual([
      3,
      true,
    ]);
    expect((await undo()).exitCode).toBe(0);
  });
});
