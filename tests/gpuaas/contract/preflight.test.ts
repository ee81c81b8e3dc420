// The preflight as a command and as a function, on a platform that is well: same answer, one
// document, no secret, ends by its deadline.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { beforeAll, describe, expect, test } from 'vitest';
import { type PreflightReport, preflightReport } from '../../../harness/records/preflight.ts';
import { profileFileOf } from '../../../harness/stack/state.ts';
import gpuaas from '../../../harness/systems/gpuaas/index.ts';
import {
  argvFor,
  asCommand,
  command,
  hopdrill,
  notGreen,
  preflight,
} from '../support/preflight.ts';
import { World } from '../support/world.ts';

let world: World;
let profile: string;
let argv: string[];

beforeAll(async () => {
  world = new World();
  profile = profileFileOf(world.profile.stack);
  argv = argvFor(world.profile.stack, 'node-1');
  await world.untilGreen();
});

/** What must be the same whoever asks, however long it took. */
const shape = ({
  result,
  hop,
  signal,
  partial,
  user_state,
  user_access,
  scope,
  environment,
  hops,
  proof,
}: PreflightReport) => ({
  ...{ result, hop, signal, partial, user_state, user_access, scope, environment, proof },
  hops: hops.map(({ id, order, status, vantage, explained_by }) => ({
    id,
    order,
    status,
    vantage,
    explained_by,
  })),
});

test('both nodes are healthy, every hop asked', async () => {
  for (const node of ['node-1', 'node-2']) {
    const report = await preflight(argvFor(world.profile.stack, node));
    expect(notGreen(report)).toEqual([]);
    expect(report).toMatchObject({
      result: 'healthy',
      hop: null,
      partial: false,
      user_state: 'normal',
      user_access: 'ok',
      error: null,
    });
    expect(report.subject.node_id).toBe(node);
  }
});

test('function, flags and --profile give the same report', async () => {
  const [asFunction, byFlags, byProfile] = [
    await preflight(argv),
    await asCommand(argv),
    await asCommand(['--profile', profile, '--node-id', 'node-1']),
  ];
  expect(shape(byFlags.report)).toEqual(shape(asFunction));
  expect(shape(byProfile.report)).toEqual(shape(asFunction));
  expect([byFlags.code, byProfile.code]).toEqual([0, 0]);
});

test('probes run side by side', async () => {
  const { hops } = await preflight(argv);
  // At one moment, whatever the pace: one slow probe may take most of the whole time by itself.
  const underWay = hops.map(({ started_ms: at }) =>
    hops.filter((hop) => hop.started_ms <= at && at < hop.started_ms + hop.duration_ms),
  );
  expect(Math.max(...underWay.map((those) => those.length))).toBeGreaterThan(9);
});

test('the table has the sections of the runbook and the result', async () => {
  const { stdout, exitCode } = await command(['preflight', ...argv]);
  expect(exitCode).toBe(0);
  for (const { section, id } of gpuaas.asked.hops) {
    expect(stdout).toContain(section);
    expect(stdout).toContain(id);
  }
  expect(stdout).toMatch(/RESULT healthy/);
});

test('no secret is printed, in no form', async () => {
  const { credentials, nodes } = world.profile;
  const key = world.secret(nodes['node-1']?.ssh?.keyFile).split('\n')[1] ?? '';
  const secrets = [
    world.operatorToken,
    world.userToken,
    world.secret(credentials['edge-cookie']),
    key,
  ];
  const printed = await Promise.all([
    command(['preflight', ...argv]),
    command(['preflight', ...argv, '--json']),
  ]);
  for (const { stdout, stderr } of printed) {
    for (const secret of secrets) expect(`${stdout}${stderr}`).not.toContain(secret);
    expect(`${stdout}${stderr}`).not.toContain('PRIVATE KEY');
  }
});

describe('parts of it', () => {
  test('--only asks that hop and what it needs', async () => {
    const report = await preflight([...argv, '--only', 'terminal_public_route']);
    expect(report.hops.filter((hop) => hop.status === 'pass').map((hop) => hop.id)).toEqual([
      'terminal_public_route',
    ]);
    expect(report.hops.filter((hop) => hop.status === 'not_run').length).toBeGreaterThan(10);
  });

  test('--until stops there, --in-order goes one by one', async () => {
    const report = await preflight([...argv, '--until', 'terminal_token_mint', '--in-order']);
    const asked = report.hops
      .filter((hop) => hop.status === 'pass')
      .sort((a, b) => a.order - b.order);
    expect(asked.map((hop) => hop.order)).toEqual([1, 2, 3, 4, 5, 6, 7, 8]);
    for (const [index, hop] of asked.entries()) {
      const before = asked[index - 1];
      if (before)
        expect(hop.started_ms).toBeGreaterThanOrEqual(before.started_ms + before.duration_ms - 1);
    }
  });

  test('without an allocation it is partial, and --require-complete says so by its code', async () => {
    const partial = argv.toSpliced(argv.indexOf('--allocation-id'), 2);
    const { report, code } = await asCommand(partial);
    expect({ result: report.result, partial: report.partial, code }).toEqual({
      result: 'healthy',
      partial: true,
      code: 0,
    });
    expect((await asCommand([...partial, '--require-complete'])).code).toBe(2);
  });

  test('--run-ws-smoke without a cookie proves nothing, and says which proof is missing', async () => {
    const without = argv.toSpliced(argv.indexOf('--edge-cookie-file'), 2);
    const { report, code } = await asCommand([...without, '--run-ws-smoke']);
    expect(report.hops.find((hop) => hop.id === 'browser_terminal_ws')).toMatchObject({
      status: 'unknown',
      cause: 'edge_auth_required',
    });
    expect(report.proof).toMatch(/^none/);
    expect(code).toBe(2);
  });
});

describe('every end of it is one document', () => {
  /** A machine that accepts connections and never says a word. */
  async function silent(): Promise<{ port: number; close(): void }> {
    const server = createServer(() => {});
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return { port: (server.address() as { port: number }).port, close: () => server.close() };
  }

  async function collect(
    child: ChildProcess,
  ): Promise<{ report: PreflightReport; code: number | null }> {
    let text = '';
    child.stdout?.on('data', (chunk) => (text += String(chunk)));
    const [code] = (await once(child, 'close')) as [number | null];
    return { report: preflightReport.parse(JSON.parse(text)), code };
  }

  /** The same deployment, but its public API never answers. */
  const hanging = (port: number, ...more: string[]) => [
    'preflight',
    ...argv.toSpliced(argv.indexOf('--api-base') + 1, 1, `https://127.0.0.1:${port}`),
    '--json',
    ...more,
  ];

  test.each([
    ['SIGINT', 130],
    ['SIGTERM', 143],
  ] as const)('%s', async (signal, code) => {
    const nobody = await silent();
    const child = spawn(hopdrill, hanging(nobody.port), { stdio: ['ignore', 'pipe', 'ignore'] });
    setTimeout(() => child.kill(signal), 1500);
    const ended = await collect(child);
    nobody.close();
    expect(ended.code).toBe(code);
    expect(ended.report.result).toBe('inconclusive');
    expect(ended.report.error?.code).toMatch(/interrupted|terminated/);
  });

  test('the deadline of the whole', async () => {
    const nobody = await silent();
    const began = performance.now();
    const { stdout, exitCode } = await command(hanging(nobody.port, '--deadline', '1'));
    nobody.close();
    expect(exitCode).toBe(2);
    expect(performance.now() - began).toBeLessThan(8000);
    const report = preflightReport.parse(JSON.parse(stdout));
    expect(report).toMatchObject({ result: 'inconclusive', error: { code: 'deadline' } });
    // Not when the deployment at last says nothing about its policies: the hops wait 3 s for that.
    expect(report.duration_ms).toBeLessThan(2500);
  });

  test('with input for no hop at all it is not called healthy', async () => {
    const { report, code } = await asCommand([
      '--api-base',
      'https://127.0.0.1:9',
      '--node-id',
      'node-1',
    ]);
    expect({ code, result: report.result }).toEqual({ code: 2, result: 'inconclusive' });
  });
});
