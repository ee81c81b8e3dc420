// `hopdrill stop` from another terminal: what is under way on the stack ends, undone and proven,
// and no series goes on there.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { execa } from 'execa';
import { expect, test, vi } from 'vitest';
import { root } from '../../../harness/cli/select.ts';
import { engineId } from '../../../harness/drivers/engine-id.ts';
import { stopDocument } from '../../../harness/records/documents.ts';
import { defaultStateDir } from '../../../harness/undo/paths.ts';
import { runners } from '../../../harness/undo/runners.ts';
import { readFolders } from '../../../reports/records.ts';
import { drill, hopdrill, leftOnTargets, one, stackOfSuite, when } from '../support/proof.ts';
import { rules, usual, wholeAfterEach } from '../support/proof-bad-day.ts';
import { begin } from '../support/proof-child.ts';

wholeAfterEach();

const stack = stackOfSuite();
const second = 'scenarios/gpuaas/node-agent/ops-ssh-refused.yaml';

const registerRunner = new URL('../support/register-runner.ts', import.meta.url).pathname;

/** How many processes say that they run scenarios on this stack. */
const registered = async (): Promise<number> =>
  runners(defaultStateDir(), await engineId()).filter((one) => one.stack === stack).length;

test('stop: a series of two ends in its first scenario, undone, and begins no second', async () => {
  const run = begin([usual, second]);
  await run.at('observe');
  expect(await rules()).toHaveLength(1);
  expect(await registered(), 'to be found between two scenarios as well').toBe(1);
  const stopped = await hopdrill(['stop', '--stack', stack, '--json']);
  expect(await leftOnTargets(), 'at the moment when stop ends').toEqual([]);
  const ended = await run.end();
  expect(stopped.exitCode, stopped.stderr).toBe(0);
  const document = stopDocument.parse(JSON.parse(stopped.stdout));
  expect(document.runs).toMatchObject([{ stack, run: ended.record?.run_id, state: 'ended' }]);
  expect(document.stacks).toMatchObject([{ stack, state: 'clean', unproven: [] }]);
  expect(stopped.stderr).toMatch(/asked to end/);
  expect([ended.exitCode, ended.record?.verdict], ended.stderr).toEqual([143, 'aborted']);
  expect(ended.record?.readback).toMatchObject([{ ok: true }]);
  const begun = ended.events.flatMap((event) => (event.event === 'run' ? [event.scenario] : []));
  expect(begun).toEqual(['node-agent/api-egress-rejected']);
  expect(await registered()).toBe(0);
});

test('stop: a run that is told to end before its fault is in breaks nothing', async () => {
  const abort = new AbortController();
  const atBaseline = when('baseline', 'done', () => abort.abort('SIGTERM'));
  const record = await drill(await one(usual), { signal: abort.signal }, atBaseline);
  expect([record.verdict, record.ended_by]).toEqual([
    'aborted',
    { kind: 'signal', name: 'SIGTERM' },
  ]);
  expect(record.stages.map(({ stage }) => stage)).not.toContain('inject');
  const late = await drill(await one(usual), { signal: abort.signal });
  expect(late.verdict).toBe('aborted');
  expect(late.stages.map(({ stage }) => stage)).toEqual(['open', 'teardown']);
});

test('stop: a runner that hangs is named, and Ctrl-C only ends the waiting', async () => {
  const run = begin([usual]);
  await run.at('observe');
  run.kill('SIGSTOP');
  try {
    const late = await hopdrill(['stop', '--stack', stack, '--within', '1s']);
    expect(late.exitCode, late.stderr).toBe(1);
    expect(late.stdout).toMatch(/\(pid \d+\) did not end after 1.* s: end it with "kill -9 \d+"/);
    expect(late.stdout).toMatch(/the dead-man takes back .* lease .* "hopdrill undo --stack/);
    const waits = execa('node', ['harness/cli/main.ts', 'stop', '--stack', stack], {
      cwd: root,
      reject: false,
      stdin: 'ignore',
    });
    waits.stderr.once('data', () => waits.kill('SIGINT'));
    const interrupted = await waits;
    expect(interrupted.exitCode, interrupted.stderr).toBe(130);
    expect(interrupted.stderr).toMatch(/SIGINT: not waiting any more;.*goes on ending by itself/);
  } finally {
    run.kill('SIGCONT');
  }
  const ended = await run.end();
  expect([ended.exitCode, ended.record?.verdict], ended.stderr).toEqual([143, 'aborted']);
});

test('stop: a vitest worker ends its later files once no other worker needs them', async () => {
  const since = new Date();
  const other = 'stack-of-another-worker';
  // The worker of another stack of the same series, as far as this one can know.
  const sibling = execa('node', [registerRunner, other], {
    cwd: root,
    reject: false,
    stdin: 'ignore',
  });
  await new Promise((ready) => sibling.stdout.once('data', ready));
  const files = [usual, second];
  const vitest = execa(
    'node',
    ['node_modules/vitest/vitest.mjs', 'run', '--project', 'scenarios', '--maxWorkers=1', ...files],
    {
      cwd: root,
      reject: false,
      all: true,
      stdin: 'ignore',
      env: { NO_COLOR: '1', HOPDRILL_STACK: stack, HOPDRILL_STACKS: `${stack},${other}` },
    },
  );
  const folders = () => readFolders(undefined, since).filter((one) => one.stack === stack);
  await vi.waitFor(
    () => {
      const [first] = folders();
      expect(readFileSync(join(first!.dir, 'events.jsonl'), 'utf8')).toContain(
        '"stage":"effect","status":"done"',
      );
    },
    { timeout: 90_000, interval: 50 },
  );
  expect(await registered()).toBe(1);
  const stopped = await hopdrill(['stop', '--stack', stack]);
  expect(stopped.exitCode, stopped.stdout + stopped.stderr).toBe(0);
  expect(await leftOnTargets()).toEqual([]);
  expect(await registered(), 'nobody needs to wait for it').toBe(0);
  const otherEnded = Date.now();
  sibling.kill('SIGKILL');
  const ended = await vitest;
  expect(ended.exitCode, ended.all).toBe(1);
  expect(ended.all).toContain('2 failed');
  const records = folders().map(({ record }) => record);
  expect(records.map((record) => record?.verdict)).toEqual(['aborted', 'aborted']);
  expect(
    Date.parse(records[1]!.started_at),
    'not before the other worker was done',
  ).toBeGreaterThanOrEqual(otherEnded);
  expect(records[1]?.stages.map(({ stage: name }) => name)).toEqual(['open', 'teardown']);
});
