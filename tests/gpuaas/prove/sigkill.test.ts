/**
 * The runner dies of SIGKILL at each step of the ledger, for each way of undoing. Then either only
 * the dead-man is there, or only `hopdrill undo`. Afterwards the digests are as before and nothing
 * carries a mark of the run. Three chains at once: one on each node, one on parts and links.
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { engineId } from '../../../harness/drivers/engine-id.ts';
import { openEngine } from '../../../harness/undo/engine.ts';
import type { Executor } from '../../../harness/undo/execute.ts';
import { armedDir } from '../../../harness/undo/paths.ts';
import { digestOf } from '../../../harness/undo/step.ts';
import { sweep } from '../../../harness/undo/sweep.ts';
import { type FaultCase, killCases } from '../support/fault-cases.ts';
import { planned } from '../support/faults.ts';
import { sample } from '../support/sampling.ts';
import {
  breakAndDie,
  executor,
  freshRun,
  ledgerOf,
  marksOfRun,
  stack,
  stackProfile,
  stateDir,
  undoByCommand,
} from '../support/undo.ts';
import { World } from '../support/world.ts';

const leaseSeconds = 3;
/** Between the end of the lease, or the return of what was away, and the last trace. */
const graceSeconds = 5;

const points = [
  'armed',
  'intended',
  'ready',
  'injecting',
  'injected',
  'applied',
  'undoing',
  'reverted',
  'verified',
  'disarmed',
] as const;
const chains = {
  'node-1': ['node-rule', 'node-file', 'process', 'config'],
  'node-2': ['unit', 'user', 'disk', 'api'],
  parts: ['container', 'toxic', 'part-file', 'slot'],
} as const;

type Row = Pick<FaultCase, 'fault' | 'params'>;

function rowOf(kind: string, chain: string): Row {
  const row = killCases[kind]!;
  return chain === 'node-2' ? { ...row, params: { ...row.params, on: 'node-2' } } : row;
}

async function dieAt(point: string, run: string, row: Row, lease: number): Promise<void> {
  expect(await breakAndDie({ stack, point, run, leaseSeconds: lease }, row)).toBe('SIGKILL');
}

/** Digests of all steps that the ledger knows, against what they were before. */
async function digestsDiffer(on: Executor, id: string): Promise<string[]> {
  const differing: string[] = [];
  for (const step of (await ledgerOf(id)).steps) {
    const now = await digestOf(step, { executor: on }).catch(String);
    if (now !== step.digestBefore)
      differing.push(`${step.plan.fault}: ${now} instead of ${step.digestBefore}`);
  }
  return differing;
}

async function left(on: Executor, id: string): Promise<string[]> {
  const armed = join(armedDir(stateDir, await engineId(), stack), id);
  return [
    ...(await marksOfRun(id)),
    ...(await digestsDiffer(on, id)),
    ...(existsSync(armed) ? ['the watchdog still holds it'] : []),
  ];
}

async function waitUntilNothingIsLeft(
  on: Executor,
  id: string,
  withinMs: number,
): Promise<{ left: string[]; ms: number }> {
  const start = performance.now();
  for (;;) {
    const now = await left(on, id).catch((error: unknown) => [String(error)]);
    const ms = performance.now() - start;
    if (now.length === 0 || ms > withinMs) return { left: now, ms };
    await sleep(200);
  }
}

describe.skipIf(stack === '')('runner killed', () => {
  let on: Executor;
  beforeAll(async () => {
    on = executor();
    expect((await sweep({ stack })).unproven).toEqual([]);
  });
  afterAll(() => on.close());

  test('control: with nobody to take it back, the fault and its marks are seen to stay', async () => {
    const id = freshRun('control');
    await dieAt('applied', id, killCases['node-rule']!, 120);
    await on.onNode('node-1', ['systemctl', 'stop', `hopdrill-${id}.service`]);
    const end = await waitUntilNothingIsLeft(on, id, 3000);
    expect(end.left.join()).toMatch(/node:node-1: folder, rule, unit.*egress\.block: -A OUTPUT/s);
    expect((await sweep({ stack, run: id })).unproven).toEqual([]);
    expect(await left(on, id)).toEqual([]);
  });

  describe.concurrent.each(Object.entries(chains))('%s', (chain, kinds) => {
    const cases = kinds.flatMap((kind) =>
      sample(`points of ${kind}`, points, 3).map((point) => [kind, point] as const),
    );
    test.for(cases)(
      '%s at %s: the dead-man alone',
      { concurrent: false },
      async ([kind, point]) => {
        const id = freshRun(`${kind}-${point}`);
        await dieAt(point, id, rowOf(kind, chain), leaseSeconds);
        const end = await waitUntilNothingIsLeft(on, id, (leaseSeconds + graceSeconds) * 1000);
        expect(end.left, `after ${Math.round(end.ms)} ms`).toEqual([]);
        // The ledger is closed by the next sweep, which finds nothing to do.
        expect(await sweep({ stack, run: id })).toMatchObject({ unproven: [] });
        expect((await ledgerOf(id)).closed).toBe(true);
      },
    );
    test.for(cases)(
      '%s at %s: only hopdrill undo',
      { concurrent: false },
      async ([kind, point]) => {
        const id = freshRun(`${kind}-${point}`);
        await dieAt(point, id, rowOf(kind, chain), 120);
        const { exitCode, report } = await undoByCommand(id);
        expect([exitCode, report.unproven], report.lines.join('\n')).toEqual([0, []]);
        expect(report.runs.map((swept) => [swept.run, swept.state])).toEqual([[id, 'taken_back']]);
        // The chain of the parts may be stopping a container at this very moment.
        expect((await waitUntilNothingIsLeft(on, id, 2000)).left).toEqual([]);
        expect(await sweep({ stack, run: id }), 'a second time').toMatchObject({
          runs: [],
          unproven: [],
        });
      },
    );
  });
});

describe.skipIf(stack === '')('the way to the target is lost at applied', () => {
  const profile = (): ReturnType<typeof stackProfile> => stackProfile();
  const nodeKinds = ['node-rule', 'node-file', 'unit', 'user', 'disk', 'process'] as const;
  const container = (name: string): string => {
    const { lifeline } = profile().nodes[name]!;
    if (lifeline.kind !== 'docker') throw new Error('a stack of ours has docker lifelines');
    return lifeline.container;
  };

  test.each(nodeKinds)('%s: SSH is cut, the runner goes on by the lifeline', async (kind) => {
    const on = executor();
    const docker = await on.docker();
    const engine = await openEngine({ profile: profile(), runId: freshRun(`cut-${kind}`) });
    const { fault, params } = killCases[kind]!;
    await engine.prepare([planned(fault, params, profile())]);
    await engine.inject(0);
    await docker.exec(container('node-1'), [
      'sh',
      '-c',
      'iptables -I INPUT -p tcp --dport 22 -j REJECT --reject-with tcp-reset',
    ]);
    try {
      expect(await engine.isActive(0)).toMatchObject({ active: true });
      expect((await engine.undo(0)).state).toBe('reverted');
      expect((await engine.verify(0)).state).toBe('verified');
      expect((await engine.close()).clean).toBe(true);
    } finally {
      await docker.exec(container('node-1'), [
        'sh',
        '-c',
        'iptables -D INPUT -p tcp --dport 22 -j REJECT --reject-with tcp-reset',
      ]);
      on.close();
    }
  });

  test.each(nodeKinds)(
    '%s: the node reboots with the fault, and the runner is gone',
    async (kind) => {
      const on = executor();
      const id = freshRun(`boot-${kind}`);
      await dieAt('applied', id, killCases[kind]!, leaseSeconds);
      const leaseEnds = performance.now() + leaseSeconds * 1000;
      const world = new World(stack);
      await (await on.docker()).restart(container('node-1'), 5);
      await world.until(
        'the node lets somebody in',
        60,
        async () => (await world.ssh('node-1', 'true')).code === 0,
      );
      const end = await waitUntilNothingIsLeft(
        on,
        id,
        Math.max(0, leaseEnds - performance.now()) + graceSeconds * 1000,
      );
      expect(end.left, `${Math.round(end.ms)} ms after the node was back`).toEqual([]);
      on.close();
    },
  );

  test.each(['pause', 'stop'] as const)(
    'toxic: the API of toxiproxy is silent (%s), and the runner is gone',
    async (verb) => {
      const on = executor();
      const id = freshRun(`silent-${verb}`);
      await dieAt('applied', id, killCases.toxic!, leaseSeconds);
      await (await on.docker())[verb](profile().parts.links!.container);
      const answers = async (): Promise<boolean> => {
        const version = `${profile().links!.toxiproxy}/version`;
        return (
          (await fetch(version, { signal: AbortSignal.timeout(500) }).catch(() => null))?.ok ===
          true
        );
      };
      expect(await answers(), 'the API is silent').toBe(false);
      // Nobody but the watchdog brings it back, once the lease is over.
      await new World(stack).until(
        'toxiproxy to answer again',
        leaseSeconds + graceSeconds,
        answers,
      );
      const end = await waitUntilNothingIsLeft(on, id, graceSeconds * 1000);
      expect(end.left, `${Math.round(end.ms)} ms after the API was back`).toEqual([]);
      on.close();
    },
  );
});
