// What happens to users of today's tools on a bad day, acted out against hopdrill: each row ends as
// it should. Here: runners that are killed, injections that fail, probes that time out.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { execa } from 'execa';
import { describe, expect, test } from 'vitest';
import { root } from '../../../harness/cli/select.ts';
import { latest, readFolder } from '../../../reports/records.ts';
import { rowOfFolder, table } from '../../../reports/summary.ts';
import { container, docker, hopdrill, leftOnTargets, say, seconds } from '../support/proof.ts';
import { leaseMs, rules, stack, tamper, usual, wholeAfterEach } from '../support/proof-bad-day.ts';
import { begin } from '../support/proof-child.ts';

wholeAfterEach();

describe('a runner that is killed', () => {
  test('SIGKILL in the middle: the dead-man undoes it, `hopdrill undo` too, and the folder explains itself', async () => {
    const run = begin([usual]);
    await run.at('observe');
    expect(await rules()).toHaveLength(1);
    const killed = performance.now();
    run.kill('SIGKILL');
    const { dir, signal, record } = await run.end();
    expect(signal).toBe('SIGKILL');
    await expect.poll(rules, { timeout: leaseMs + 5000, interval: 200 }).toEqual([]);
    say(
      `dead-man: undone ${seconds(performance.now() - killed)} after the kill, lease ${seconds(leaseMs)}`,
    );
    expect(record, 'no verdict was reached').toBeNull();
    const undone = await hopdrill(['undo', '--stack', stack]);
    expect(undone.exitCode, undone.stdout).toBe(0);
    expect(undone.stdout).toMatch(/egress\.block on node:node-1: applied -> verified/);
    expect(readFolder(dir).last).toBe('observe (start)');
    expect(JSON.parse(readFileSync(join(dir, 'plan.json'), 'utf8')).undo).toHaveLength(1);
    const row = rowOfFolder(readFolder(dir));
    expect(row).toMatchObject({
      scenario: 'node-agent/api-egress-rejected',
      verdict: 'aborted',
      why: 'no verdict; ended in observe (start)',
    });
    expect(table([row])).toContain('aborted');
  });

  test('the next run on top of the leftover: sweeps it first', async () => {
    const run = begin([usual]);
    await run.at('observe');
    run.kill('SIGKILL');
    await run.end();
    expect(await rules()).toHaveLength(1);
    const next = await begin(['scenarios/gpuaas/node-agent/ops-ssh-refused.yaml']).end();
    expect(next.exitCode, next.stderr).toBe(0);
    const notes = next.events.flatMap((event) => (event.event === 'note' ? [event.text] : []));
    expect(notes.join('\n')).toMatch(
      /api-egress-rejected: egress\.block on node:node-1: applied -> verified/,
    );
  });

  test('the next run on top of a leftover that cannot be taken back: refuses, dirty', async () => {
    const run = begin([usual]);
    await run.at('observe');
    run.kill('SIGKILL');
    await run.end();
    tamper('-D', 'exit 4');
    const next = await begin(['scenarios/gpuaas/node-agent/ops-ssh-refused.yaml']).end();
    expect(next.exitCode, next.stderr).toBe(3);
    expect(next.record?.verdict).toBe('dirty');
    expect(next.record?.reasons[0]?.observed).toContain(
      'leftovers of an earlier run cannot be taken back',
    );
    expect(next.record?.leftovers.at(-1)).toBe('to remove it: ./hopdrill undo');
    expect(
      next.record?.stages.map((stage) => stage.stage),
      'nothing was broken on top of it',
    ).not.toContain('inject');
  });

  test.for([
    ['SIGTERM', 143],
    ['SIGINT', 130],
    ['SIGHUP', 129],
  ] as const)('%s: undone, read back, %i', async ([signal, code]) => {
    const run = begin([usual]);
    await run.at('observe');
    run.kill(signal);
    const ended = await run.end();
    expect(ended.exitCode, ended.stderr).toBe(code);
    expect(await leftOnTargets()).toEqual([]);
    expect(ended.record?.verdict).toBe('aborted');
    expect(ended.record?.readback).toMatchObject([{ ok: true }]);
    expect(ended.record?.ended_by).toEqual({ kind: 'signal', name: signal });
  });

  test('SIGUSR1 is no reason to leave anything: the run goes on to its end', async () => {
    const run = begin([usual]);
    await run.at('observe');
    run.kill('SIGUSR1');
    const ended = await run.end();
    expect([ended.exitCode, ended.record?.verdict], ended.stderr).toEqual([0, 'pass']);
    expect(ended.record?.readback).toMatchObject([{ ok: true }]);
  });
});

describe('a runner that nobody reads', () => {
  test('a reader that goes away in the middle: the run goes on to its end, and its verdict is the exit code', async () => {
    const run = begin([usual]);
    await run.at('effect');
    run.stopReading();
    const ended = await run.end();
    expect(ended.stderr).not.toContain('EPIPE');
    expect([ended.exitCode, ended.record?.verdict], ended.stderr).toEqual([0, 'pass']);
    expect(
      ended.events.map((event) => event.event),
      'the reader left before',
    ).not.toContain('verdict');
    expect(await leftOnTargets()).toEqual([]);
  });

  test('a full disk behind stdout: undone and judged, and the lost output is said', async () => {
    const line = 'exec node harness/cli/main.ts run "$1" --stack "$2" --json > /dev/full';
    const { exitCode, stderr } = await execa('sh', ['-c', line, 'sh', usual, stack], {
      cwd: root,
      reject: false,
      stdin: 'ignore',
    });
    expect(exitCode, stderr).toBe(70);
    expect(stderr).toMatch(/not all could be written: .*ENOSPC/);
    expect(readFolder(latest() ?? '').record?.verdict).toBe('pass');
    expect(await leftOnTargets()).toEqual([]);
  });
});

describe('--keep-on-fail', () => {
  const kept = ['scenarios/gpuaas/canaries/wrong-signal.yaml', '--keep-on-fail'];

  test('Ctrl-C ends the hold and not the run: repair, recover and must-nots follow, the verdict is the one that was reached', async () => {
    const run = begin(kept);
    await run.noted(/^held/);
    expect(await rules()).toHaveLength(1);
    run.kill('SIGINT');
    const ended = await run.end();
    expect([ended.exitCode, ended.record?.verdict], ended.stderr).toEqual([1, 'fail']);
    expect(ended.record?.reasons).toMatchObject([
      {
        field: 'signal',
        expected: 'node_agent_api_tls_failed',
        observed: 'node_agent_api_unreachable',
      },
    ]);
    expect(ended.record?.ended_by).toBeNull();
    expect(ended.record?.readback).toMatchObject([{ ok: true }]);
    expect(ended.record?.recovery?.proofs).toMatchObject([{ name: 'preflight-green', ok: true }]);
    expect(ended.record?.audit, 'the must-not was looked at').toEqual({
      watched: true,
      until: null,
      edits: [],
      problem: null,
    });
  });

  test('a second Ctrl-C interrupts: aborted, undone, 130', async () => {
    const run = begin(kept);
    await run.noted(/^held/);
    run.kill('SIGINT');
    await run.at('repair');
    run.kill('SIGINT');
    const ended = await run.end();
    expect([ended.exitCode, ended.record?.verdict], ended.stderr).toEqual([130, 'aborted']);
    expect(ended.record?.readback).toMatchObject([{ ok: true }]);
    expect(await leftOnTargets()).toEqual([]);
  });
});

test('an injection that fails is inconclusive', async () => {
  tamper('-I', 'echo refused >&2; exit 4');
  const ended = await begin([usual]).end();
  expect(ended.exitCode, ended.stderr).toBe(2);
  expect(ended.record?.reasons).toMatchObject([{ field: 'inject', expected: 'to its end' }]);
  expect(ended.record?.readback).toMatchObject([{ ok: true }]);
});

test('a probe that times out: judged on what was seen, undone all the same, and recovery judged after the undo', async () => {
  const run = begin([usual]);
  await run.at('effect', 'done');
  docker('pause', container('provider'));
  await run.at('evidence', 'done');
  docker('unpause', container('provider'));
  const ended = await run.end();
  expect([ended.exitCode, ended.record?.verdict], JSON.stringify(ended.record?.reasons)).toEqual([
    0,
    'pass',
  ]);
  expect(ended.record?.observation?.judged).toMatchObject({
    hop: 'node_runtime_api_reachability',
    cause: 'tcp_refused',
  });
  expect(ended.record?.readback).toMatchObject([{ ok: true }]);
  const order = ended.record!.stages.map((stage) => stage.stage);
  expect(order.indexOf('recover')).toBeGreaterThan(order.indexOf('readback'));
  const [readback, recover] = ['readback', 'recover'].map(
    (name) => ended.record!.stages.find((stage) => stage.stage === name)!,
  );
  expect(recover!.start_ms).toBeGreaterThanOrEqual(readback!.start_ms + readback!.duration_ms - 1);
  const first = JSON.parse(
    readFileSync(join(ended.dir, 'recovery.jsonl'), 'utf8').split('\n')[0]!,
  ) as { at: string };
  expect(Date.parse(first.at)).toBeGreaterThanOrEqual(
    Date.parse(ended.record!.started_at) + readback!.start_ms,
  );
});
