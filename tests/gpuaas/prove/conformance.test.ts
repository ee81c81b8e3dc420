/**
 * What every fault has to keep, on a running stack. The rows are in tests/support/fault-cases.ts;
 * each goes through every part of this suite.
 */
import { afterAll, beforeAll, describe, expect, onTestFailed, test } from 'vitest';
import { engineId } from '../../../harness/drivers/engine-id.ts';
import { undoKinds } from '../../../harness/records/fault.ts';
import { type Engine, openEngine } from '../../../harness/undo/engine.ts';
import type { Executor } from '../../../harness/undo/execute.ts';
import { digestOf } from '../../../harness/undo/step.ts';
import { sweep } from '../../../harness/undo/sweep.ts';
import { watchdogPid } from '../../../harness/undo/watchdog-start.ts';
import { type FaultCase, faultCases, killCases, titleOf } from '../support/fault-cases.ts';
import { faults, planned } from '../support/faults.ts';
import { replaced, runRepair } from '../support/replaced.ts';
import { sample } from '../support/sampling.ts';
import {
  breakAndDie,
  executor,
  freshRun,
  ledgerOf,
  marksOfRun,
  setLink,
  stack,
  stackProfile,
  stateDir,
  undoByCommand,
} from '../support/undo.ts';
import { unreadable } from '../support/unreadable.ts';
import { World } from '../support/world.ts';

const titled = (list: readonly FaultCase[]) => list.map((row) => [titleOf(row), row] as const);
/** Every fault in one of its ways. */
const rows = titled(
  [...Map.groupBy(faultCases, ({ fault }) => fault)].flatMap(([fault, ways]) =>
    sample(`ways of ${fault}`, ways, 1),
  ),
);

async function started({
  fault,
  params,
}: Pick<FaultCase, 'fault' | 'params'>): Promise<{ engine: Engine; id: string }> {
  const id = freshRun(fault);
  const engine = await openEngine({ profile: stackProfile(), runId: id });
  // A row that fails must not hold its lease for as long as the suite goes on, and fail whoever
  // comes after it.
  onTestFailed(async () => {
    await engine.undo(0).catch(() => {});
    await engine.verify(0).catch(() => {});
    await engine.close().catch(() => {});
  });
  await engine.prepare([planned(fault, params, stackProfile())]);
  return { engine, id };
}

/** With the way shut over which the agent would heal a fault before anybody looked. */
async function unhealed({ healsOver }: FaultCase, work: () => Promise<void>): Promise<void> {
  if (healsOver === undefined) return work();
  await setLink(healsOver, false);
  try {
    await work();
  } finally {
    await setLink(healsOver, true);
  }
}

let on: Executor;
let world: World;
beforeAll(async () => {
  if (stack === '') return;
  on = executor();
  world = new World(stack);
  expect((await sweep({ stack })).unproven).toEqual([]);
});
afterAll(() => on?.close());

test('every fault has a row, each way of undoing one in the kill matrix, and each that a repair may replace such a repair', () => {
  const names = (list: readonly { fault: string }[]): string[] =>
    [...new Set(list.map(({ fault }) => fault))].sort();
  expect(names(faultCases)).toEqual(faults.map((fault) => fault.name).sort());
  expect(Object.keys(killCases).sort()).toEqual([...undoKinds].sort());
  if (stack === '') return;
  const mayBe = faultCases.filter(
    ({ fault, params }) => planned(fault, params, stackProfile()).supersedable,
  );
  expect(names(replaced)).toEqual(names(mayBe));
});

describe.skipIf(stack === '')('every fault', () => {
  test.each(rows)('%s: there and felt after inject, gone after undo, as before', async (_, row) => {
    await world.untilGreen();
    const { engine, id } = await started(row);
    expect(await engine.isActive(0), 'not there before').toMatchObject({ active: false });
    const since = new Date();
    await unhealed(row, async () => {
      await engine.inject(0);
      const seen = expect.poll(() => engine.isActive(0), {
        timeout: 20_000,
        interval: 200,
        message: 'seen through the second channel',
      });
      await seen.toMatchObject({ active: true });
      await world.until(row.felt.name, 20, () => row.felt.says(world, since));
      await deadmanReachable(on, id, engine);
    });
    // What the platform made itself meanwhile is its own, and stays; without that everything is as
    // it was.
    const healed = row.healsOver !== undefined;
    if (healed)
      await world.until(
        'the agent to heal itself',
        20,
        async () => (await engine.isActive(0)).active === false,
      );
    const step = engine.steps[0]!;
    const expected = healed ? await digestOf(step, { executor: on }) : step.digestBefore;
    const undone = await engine.undo(0);
    const proven = await engine.verify(0);
    expect(proven.state, `${undone.detail}; ${proven.detail}`).toBe(
      healed ? 'superseded' : 'verified',
    );
    expect(await digestOf(step, { executor: on })).toBe(expected);
    // What merely happened has happened, also afterwards.
    expect(await engine.isActive(0)).toMatchObject({ active: step.plan.event });
    expect((await engine.undo(0)).state, 'undo twice').toBe(proven.state);
    expect(await engine.close()).toEqual({ clean: true, unproven: [] });
    expect(await marksOfRun(id)).toEqual([]);
    expect((await ledgerOf(id)).closed).toBe(true);
  });

  test.each(rows)('%s: undo without inject is harmless', async (_, row) => {
    const { engine, id } = await started(row);
    expect((await engine.undo(0)).state).toBe('reverted');
    expect((await engine.verify(0)).state).toBe('verified');
    expect(await engine.close()).toEqual({ clean: true, unproven: [] });
    expect(await marksOfRun(id)).toEqual([]);
  });

  test('after all those undos the platform is as green as before', () => world.untilGreen());

  test.each(rows)('%s: undo from the serialised record alone, in a new process', async (_, row) => {
    const id = freshRun(row.fault);
    await unhealed(row, async () => {
      expect(await breakAndDie({ stack, point: 'applied', run: id, leaseSeconds: 60 }, row)).toBe(
        'SIGKILL',
      );
      expect((await ledgerOf(id)).steps[0]?.state).toBe('applied');
      const { exitCode, report } = await undoByCommand(id);
      expect(exitCode, report.lines.join('\n')).toBe(0);
      expect(report.runs).toMatchObject([
        { run: id, state: 'taken_back', steps: [{ was: 'applied', state: 'verified' }] },
      ]);
    });
    expect(await marksOfRun(id)).toEqual([]);
  });
});

describe.skipIf(stack === '')('a fault that the agent does not feel is not there', () => {
  const folder = '/run/systemd/system/gpuaas-node-agent.service.d';
  const service = '[Service]\\nExecStart=\\nExecStart=/usr/bin/sleep 600\\n';
  const asleep = `mkdir -p ${folder} && printf '${service}' > ${folder}/asleep.conf && systemctl daemon-reload`;
  const awake = `rm -rf ${folder} && systemctl daemon-reload && systemctl restart gpuaas-node-agent.service`;
  const felt = new Set(['dns.break nxdomain', 'tls.stale-ca', 'tls.client-cert expired remove']);

  test.each(titled(faultCases).filter(([title]) => felt.has(title)))('%s', async (_, row) => {
    await world.untilGreen();
    const { engine } = await started(row);
    await world.must('node-1', asleep);
    try {
      await engine.inject(0);
      expect(await engine.isActive(0)).toMatchObject({
        active: false,
        detail: expect.stringMatching(/the agent: nothing yet$/),
      });
    } finally {
      await world.must('node-1', awake);
    }
    await expect
      .poll(() => engine.isActive(0), { timeout: 20_000, interval: 200 })
      .toMatchObject({ active: true });
    expect((await engine.undo(0)).state).toBe('reverted');
    expect((await engine.verify(0)).state).toBe('verified');
    expect((await engine.close()).clean).toBe(true);
  });
});

describe.skipIf(stack === '')('a fault whose prior state cannot be read is not injected', () => {
  test.each(rows)('%s', async (_, row) => {
    const {
      params,
      profile: changed = (same) => same,
      byHand,
      refusal,
    } = unreadable(row, stackProfile());
    const profile = changed(stackProfile());
    const id = freshRun(row.fault);
    const engine = await openEngine({ profile, runId: id });
    if (byHand) await world.must('node-1', byHand.breakIt);
    try {
      await expect(
        engine.prepare([planned(row.fault, { ...row.params, ...params }, profile)]),
      ).rejects.toThrow(refusal);
      await expect(engine.inject(0)).rejects.toThrow('no step 0');
      expect(await engine.close()).toEqual({ clean: true, unproven: [] });
    } finally {
      if (byHand) await world.must('node-1', byHand.putBack);
    }
    expect(engine.executed().filter(({ phase }) => phase === 'inject')).toEqual([]);
    expect(await marksOfRun(id)).toEqual([]);
  });
});

describe.skipIf(stack === '')('a repair that replaced the thing is not overwritten', () => {
  test.each(replaced.map((one) => [`${titleOf(one)}: ${one.title}`, one] as const))(
    '%s',
    async (_, one) => {
      await world.untilGreen();
      if (one.before !== undefined) await world.must(one.node, one.before);
      const { engine } = await started(one);
      try {
        await engine.inject(0);
        await runRepair(world, one);
        await world.until(
          'the fault to be gone by the repair',
          20,
          async () => (await engine.isActive(0)).active === false,
        );
        // A procedure of the platform heals all of it; only then is the thing what it stays.
        if ('platform' in one.repair) await world.untilGreen();
        const made = await world.must(one.node, one.thing);
        expect(await engine.undo(0)).toMatchObject({ state: 'superseded' });
        expect(await engine.verify(0)).toMatchObject({ state: 'superseded' });
        expect(await world.must(one.node, one.thing)).toBe(made);
        expect(await engine.close()).toEqual({ clean: true, unproven: [] });
      } finally {
        if (one.after !== undefined) await world.must(one.node, one.after);
      }
      await world.untilGreen();
    },
  );
});

describe.skipIf(stack === '')('a full disk', () => {
  test('takes what is given back in small pieces, and leaves a repair alone', async () => {
    await world.untilGreen();
    const [small, large] = ['/var/given-back', '/var/made-room'];
    await world.must(
      'node-1',
      `head -c 4096 /dev/zero > ${small}; head -c 2M /dev/zero > ${large}; sync -f /var`,
    );
    const { engine } = await started({ fault: 'disk.fill', params: {} });
    const full = async () => (await engine.isActive(0)).active;
    const taken = (withinMs: number) => expect.poll(full, { timeout: withinMs, interval: 200 });
    try {
      await engine.inject(0);
      await taken(2000).toBe(true);
      await world.must('node-1', `rm ${small}`);
      await taken(2000).toBe(true);
      await world.must('node-1', `rm ${large}`);
      await taken(2000).toBe(false);
      await new Promise((resolve) => setTimeout(resolve, 1000));
      expect(await full()).toBe(false);
    } finally {
      await world.must('node-1', `rm -f ${small} ${large}`);
    }
    expect((await engine.undo(0)).state).toBe('reverted');
    expect((await engine.verify(0)).state).toBe('verified');
    expect(await engine.close()).toEqual({ clean: true, unproven: [] });
    const fillers = await world.must(
      'node-1',
      `systemctl list-units --all --plain --no-legend 'hopdrill-*-fill.service'`,
    );
    expect(fillers).toBe('');
  });
});

/**
 * While a fault is there, the ways to take it back are open: the lifeline answers, and somebody
 * holds the lease.
 */
async function deadmanReachable(how: Executor, id: string, engine: Engine): Promise<void> {
  const undo = engine.steps[0]!.plan.undo;
  for (const node of new Set(
    undo.flatMap((action) => (action.kind === 'sh' ? [action.node] : [])),
  )) {
    const held = await how.onNode(node, ['systemctl', 'is-active', `hopdrill-${id}.service`], {
      idempotent: true,
    });
    expect(held.stdout.trim(), `the dead-man on ${node}`).toBe('active');
  }
  for (const { lifeline } of Object.values(stackProfile().nodes)) {
    if (lifeline.kind === 'docker')
      expect((await (await how.docker()).exec(lifeline.container, ['true'])).code).toBe(0);
  }
  if (undo.some((action) => action.kind !== 'sh'))
    expect(watchdogPid({ stateDir, engine: await engineId(), stack })).not.toBeNull();
}
