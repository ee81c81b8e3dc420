// Who is at work on a stack, and how they are asked to end: with processes of our own that look
// like runners, on a state folder of our own.
import { once } from 'node:events';
import { mkdtempSync, readdirSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { execa } from 'execa';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { bootId, type Owner, self, startTimeOf } from '../../harness/base/owner.ts';
import { root } from '../../harness/cli/select.ts';
import { engineId } from '../../harness/drivers/engine-id.ts';
import { endRuns, usualLimitMs } from '../../harness/undo/end-runs.ts';
import { openLedger } from '../../harness/undo/ledger.ts';
import { lock } from '../../harness/undo/lock.ts';
import { ledgerDir, runnersDir } from '../../harness/undo/paths.ts';
import { registerRunner } from '../../harness/undo/runners.ts';
import { underWay } from '../../harness/undo/under-way.ts';

const engine = 'an-engine';
const someTargets = { nodes: {}, parts: {}, toxiproxy: undefined };
let stateDir: string;
const stopAll: (() => Promise<unknown>)[] = [];

beforeEach(() => {
  stateDir = mkdtempSync(join(tmpdir(), 'hopdrill-stop-'));
});
afterEach(async () => {
  for (const stop of stopAll.splice(0)) await stop();
});

/** A process that does this on SIGTERM; ready to be signalled when this resolves. */
async function runner(onTerm: string) {
  const script = `process.on('SIGTERM', () => { console.log('SIGTERM'); ${onTerm} });
process.on('SIGWINCH', () => console.log('asked'));
setInterval(() => {}, 1000);
console.log('ready');`;
  const child = execa('node', ['-e', script], { reject: false, stdin: 'ignore' });
  stopAll.push(() => {
    child.kill('SIGKILL');
    return child;
  });
  let output = '';
  child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()));
  await once(child.stdout, 'data');
  const pid = child.pid!;
  const owner = { pid, start_time: startTimeOf(pid), boot_id: bootId() };
  const told = (word: string): Promise<void> =>
    vi.waitFor(() => expect(output.split('\n')).toContain(word), 5000);
  /** An answer to a later signal, and none to SIGTERM: two answers may come in either order. */
  const notSignalled = async (): Promise<void> => {
    process.kill(pid, 'SIGWINCH');
    await told('asked');
    expect(output).toBe('ready\nasked\n');
  };
  return { owner, child, told, notSignalled };
}

function register(stack: string, owner: Owner): void {
  const file = join(runnersDir(stateDir, engine), `${stack}.${owner.pid}.json`);
  writeFileSync(file, JSON.stringify({ stack, owner }));
}

function openRun(run: string, stack: string, owner: Owner): void {
  const ledger = openLedger(ledgerDir(stateDir, engine, run));
  const more = { at: 'now', engine, lease_seconds: 10, deadman: true };
  ledger.append({ type: 'run', run, stack, owner, ...more, targets: { stack, ...someTargets } });
  ledger.close();
}

const waiting = (more: { withinMs?: number; signal?: AbortSignal } = {}) => ({
  stateDir,
  engine,
  signal: new AbortController().signal,
  say: () => {},
  ...more,
});

test('a registration, an open ledger and a lock of one process are one run under way', async () => {
  const { owner } = await runner('process.exit(143)');
  register('one', owner);
  expect(underWay(stateDir, engine)).toEqual([
    { stack: 'one', owner, run: null, leaseSeconds: null, deadman: null },
  ]);
  openRun('run-a', 'one', owner);
  expect(underWay(stateDir, engine)).toEqual([
    { stack: 'one', owner, run: 'run-a', leaseSeconds: 10, deadman: true },
  ]);
  const held = lock('two', { stateDir, engine, run: 'run-b' });
  expect(underWay(stateDir, engine).map(({ stack, run }) => [stack, run])).toEqual([
    ['one', 'run-a'],
    ['two', 'run-b'],
  ]);
  held.release();
});

test('neither a process that is gone nor one that got its number since has a run', async () => {
  const { owner, notSignalled } = await runner('');
  const earlier = { ...owner, start_time: '1' };
  register('one', earlier);
  openRun('run-a', 'one', earlier);
  openRun('run-b', 'two', { ...owner, boot_id: 'another boot' });
  expect(underWay(stateDir, engine)).toEqual([]);
  expect(readdirSync(runnersDir(stateDir, engine)), 'what it left is cleared away').toEqual([]);
  const stale = { stack: 'one', owner: earlier, run: 'run-a', leaseSeconds: 10, deadman: true };
  expect(await endRuns([stale], waiting())).toMatchObject([{ state: 'ended' }]);
  // The process that has the number now.
  await notSignalled();
});

test('asked once, although it runs on two stacks, and waited for until both are free', async () => {
  const { owner, child } = await runner('setTimeout(() => process.exit(143), 300)');
  register('one', owner);
  register('two', owner);
  const ended = await endRuns(underWay(stateDir, engine), waiting());
  expect(ended.map(({ stack, state }) => [stack, state])).toEqual([
    ['one', 'ended'],
    ['two', 'ended'],
  ]);
  expect((await child).stdout).toBe('ready\nSIGTERM');
});

test('one that does not end in time is told apart from one that nobody waited for', async () => {
  const { owner, told } = await runner('');
  register('one', owner);
  const runs = underWay(stateDir, engine);
  expect(await endRuns(runs, waiting({ withinMs: 200 }))).toMatchObject([{ state: 'not_ended' }]);
  const interrupted = AbortSignal.abort();
  expect(await endRuns(runs, waiting({ signal: interrupted }))).toMatchObject([
    { state: 'not_waited' },
  ]);
  await told('SIGTERM');
});

test('a registration ends with what it returned', () => {
  const unregister = registerRunner('one', stateDir, engine);
  expect(underWay(stateDir, engine)).toMatchObject([{ stack: 'one', owner: self() }]);
  unregister();
  expect(underWay(stateDir, engine)).toEqual([]);
});

test('the time that a run gets is its lease and a minute', () => {
  const run = { stack: 'one', owner: self(), run: 'r', leaseSeconds: 10, deadman: true };
  expect(usualLimitMs(run)).toBe(70_000);
  expect(usualLimitMs({ ...run, leaseSeconds: null })).toBe(120_000);
});

test('several stacks are busy and none is named: names them, and asks nobody', async () => {
  const home = mkdtempSync(join(tmpdir(), 'hopdrill-stop-'));
  const { owner, notSignalled } = await runner('');
  const dir = runnersDir(join(home, 'hopdrill'), await engineId());
  for (const stack of ['one', 'two'])
    writeFileSync(join(dir, `${stack}.json`), JSON.stringify({ stack, owner }));
  const { exitCode, stdout, stderr } = await execa('node', ['harness/cli/main.ts', 'stop'], {
    cwd: root,
    reject: false,
    env: { XDG_STATE_HOME: home },
  });
  expect([exitCode, stdout], stderr).toEqual([64, '']);
  expect(stderr).toMatch(
    /several stacks are busy \(one, two\): name one with --stack, or say --all/,
  );
  await notSignalled();
});
