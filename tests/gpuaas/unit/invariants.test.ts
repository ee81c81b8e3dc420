// Each must-not must be able to fail: its items over what a view reads, once as it should be and
// once as it must never be.
import { describe, expect, test } from 'vitest';
import { type Judged, judgeItem } from '../../../harness/items/judge-item.ts';
import type { Plan } from '../../../harness/plan/plan-scenario.ts';
import type { ItemBody, Row } from '../../../harness/records/item.ts';
import { watchMustNots } from '../../../harness/run-tools/must-nots.ts';
import type { Tools } from '../../../harness/run-tools/tools.ts';
import { configWhole, invariants } from '../../../harness/systems/gpuaas/invariants.ts';
import type { AllocationModel, NodeModel } from '../../../harness/systems/gpuaas/platform.ts';
import {
  allowedRounds,
  judgeKnocks,
  readIngress,
  readJournal,
} from '../../../harness/systems/gpuaas/retries.ts';
import { refusal, type TerminalTry, told } from '../../../harness/systems/gpuaas/terminal.ts';
import { allocationRow } from '../../../harness/systems/gpuaas/views/allocation.ts';
import { nodeRow } from '../../../harness/systems/gpuaas/views/node.ts';
import { terminalRow } from '../../../harness/systems/gpuaas/views/terminal.ts';
import type { Checked, Invariant } from '../../../harness/systems/hooks.ts';

const allocation = (state: string, app: string): Row =>
  allocationRow({
    ...{ allocation_id: 'a', state, user: { state: 'normal', message: '' } },
    app: { status: app, observation_stale: false, last_observation_at: null },
  } satisfies AllocationModel) as Row;
const node = (status: string, reason: string | null, stale = false): Row =>
  nodeRow(
    {
      ...{ agent_status: status, lifecycle: 'active' },
      heartbeat: {
        at: null,
        age_ms: 1,
        stale,
        cert_not_after: null,
        cert_serial: null,
        instance_id: null,
      },
      recovery: { reason, user_state: 'temporary', message: '' },
    } satisfies Omit<NodeModel, 'tasks' | 'counters'>,
    1,
  ) as unknown as Row;
const tried = (end: TerminalTry['end'], answered = false): Row =>
  terminalRow({
    ...{ end, answered, message: null, correlationId: null, detail: '', afterMs: 1 },
  });

function itemOf(name: string): ItemBody {
  const rule = invariants[name];
  const [body] = rule !== undefined && 'observe' in rule ? rule.observe.flatMap(Object.values) : [];
  if (body === undefined) throw new Error(`${name} observes nothing`);
  return body;
}

/** The one item of a must-not over what was read now, and at the baseline. */
const judged = (name: string, now: Row, before: Row = now): Judged =>
  judgeItem(itemOf(name), { rows: [now] }, { rows: [before] });

describe('a must-not of gpuaas', () => {
  const running = allocation('active', 'running');
  const rows: readonly [string, Judged, Judged][] = [
    [
      'workload_failed',
      judged('workload_failed', running),
      judged('workload_failed', allocation('active', 'failed'), running),
    ],
    [
      'workload_failed',
      judged('workload_failed', allocation('active', 'unhealthy'), running),
      judged('workload_failed', allocation('failed', 'running'), running),
    ],
    [
      'node_reenrolled',
      judged('node_reenrolled', { recovery_successes: 1 }),
      judged('node_reenrolled', { recovery_successes: 2 }, { recovery_successes: 1 }),
    ],
    [
      'agent_down_reported',
      judged('agent_down_reported', node('healthy', null)),
      judged('agent_down_reported', node('stale', 'agent_down', true)),
    ],
    [
      'generic_unreachable',
      judged('generic_unreachable', node('healthy', null)),
      judged('generic_unreachable', node('stale', 'agent_down', true)),
    ],
    [
      'generic_unreachable',
      judged('generic_unreachable', node('auth_failed', 'recovery_token_missing', true)),
      judged('generic_unreachable', node('unknown', 'node_agent_unreachable')),
    ],
    [
      'ready_without_shell',
      judged('ready_without_shell', tried('ready', true)),
      judged('ready_without_shell', tried('ready')),
    ],
    [
      'stuck_connecting',
      judged('stuck_connecting', tried('told')),
      judged('stuck_connecting', tried('silent')),
    ],
    [
      'hand_edited_names',
      judged('hand_edited_names', { by_hand: 0 }),
      judged('hand_edited_names', { by_hand: 1 }),
    ],
  ];
  test.each(rows)('%s can hold and can fail', (_, good, bad) => {
    expect([good.holds, bad.holds]).toEqual([true, false]);
  });
  test('is tried above, or has code of its own', () => {
    const own = ['database_edited', 'retry_flood', 'host_config_partial'];
    expect(Object.keys(invariants).sort()).toEqual(
      [...new Set(rows.map(([name]) => name)), ...own].sort(),
    );
  });
  test('host_config_partial can hold and can fail', () => {
    expect(configWhole(['A', 'B'], ['B', 'A', 'C']).held).toBe(true);
    expect(configWhole(['A', 'B'], ['A'])).toEqual({ held: false, detail: 'lost: B' });
  });
});

test('a workload that had failed before the fault is not marked by it', () => {
  const failed = allocation('active', 'failed');
  expect(judged('workload_failed', failed).holds).toBe(true);
  expect(judged('workload_failed', allocation('released', 'failed'), failed).holds).toBe(false);
});

test('what was not read at the baseline is not compared with it', () => {
  const now = { rows: [{ recovery_successes: 1 }] };
  expect(judgeItem(itemOf('node_reenrolled'), now, null).holds).toBeNull();
});

describe('retries', () => {
  const none = { rounds: 0, refused: 0, enrolments: 0, starts: 0 };
  test.each(['rounds', 'refused', 'enrolments'] as const)('too many %s are a flood', (witness) => {
    expect(judgeKnocks({ ...none, [witness]: 14 }, 10, 2).held).toBe(true);
    expect(judgeKnocks({ ...none, [witness]: 15 }, 10, 2).held).toBe(false);
  });
  test('what backing off allows: 1/8, 1/4, 1/2, then half of the longest wait again and again', () => {
    expect(allowedRounds(0, 2, 0)).toBe(4);
    expect(allowedRounds(10, 2, 0)).toBe(14);
    expect(allowedRounds(10, 2, 1)).toBe(18);
    expect(allowedRounds(300, 30, 0)).toBe(28);
  });
  test('a round of the journal is one correlation id, whatever it wrote', () => {
    const line = (event: string, id: string, reason: string) =>
      `${JSON.stringify({ event, correlation_id: id, reason })}\n`;
    const text = `${line('diagnostic', 'a', 'cert_expired')}${line('diagnostic', 'a', 'recovery_token_missing')}Started.\n${line('diagnostic', 'b', 'pty_failed')}${line('recovered', 'a', 'cert_expired')}`;
    expect(readJournal(text)).toEqual({ rounds: 1, starts: 1 });
  });
  test('a refused poll is one of this node that was no question of ours', () => {
    const line = (uri: string, status: number) =>
      `2026-11-18T23:06:56Z ${JSON.stringify({ uri, status })}\n`;
    const wait = '/internal/v1/nodes/node-1/tasks/wait';
    const text = `${line(`${wait}?window=1.5`, 400)}${line(`${wait}?window=1.5`, 200)}${line(`${wait}?claim=false`, 400)}${line(wait.replace('-1', '-2'), 400)}`;
    expect(readIngress(text, 'node-1')).toBe(1);
  });
});

describe('what a user is told', () => {
  test('is the platform’s own error, whole', () => {
    expect(told({ code: 'c', message: 'm', correlation_id: 'i' })).toMatchObject({
      end: 'told',
      message: 'c: m',
      correlationId: 'i',
    });
    for (const part of ['code', 'message', 'correlation_id'])
      expect(told({ code: 'c', message: 'm', correlation_id: 'i', [part]: '' }).end, part).toBe(
        'silent',
      );
  });
  test('is not what we make of a refusal', () => {
    const typed = JSON.stringify({ error: { code: 'c', message: 'm', correlation_id: 'i' } });
    expect(refusal(503, typed, 'd')).toMatchObject({ end: 'told', message: 'c: m' });
    expect(refusal(404, '<html>no such route</html>', 'd')).toMatchObject({
      end: 'refused',
      message: null,
      correlationId: null,
    });
    expect(refusal(null, '', 'connection refused')).toMatchObject({
      end: 'refused',
      message: null,
    });
  });
});

describe('the watch', () => {
  /** The readings of one must-not in the order in which they come; the last one stays. */
  function watching(when: Invariant['when'], readings: readonly (boolean | null | 'error')[]) {
    let at = 0;
    const check: Checked['check'] = () => {
      const held = readings[Math.min(at, readings.length - 1)]!;
      at += 1;
      return held === 'error'
        ? Promise.reject(new Error('no answer'))
        : Promise.resolve({ held, detail: `reading ${at}` });
    };
    const common = { title: 't', texts: [] };
    const written = { ...common, when: 'audit' };
    const system = { invariants: { n: { ...common, when, check }, written } };
    const tools = { system, context: () => ({}), note: () => {} } as unknown as Tools;
    const plan = { run: { invariants: ['n', 'written'] } } as unknown as Plan;
    return { watch: watchMustNots(plan, tools), asked: () => at };
  }

  test('broken once is broken', async () => {
    const watch = await watching('twice', [false, true]).watch;
    await watch.check('fault');
    expect(await watch.check('end')).toEqual([{ name: 'n', ok: false, detail: 'reading 1' }]);
  });
  test('held once is held, though another reading failed', async () => {
    const watch = await watching('twice', [true, 'error']).watch;
    await watch.check('fault');
    expect(await watch.check('end')).toEqual([{ name: 'n', ok: true, detail: 'reading 1' }]);
  });
  test('never read is said', async () => {
    const failing = await watching('twice', ['error']).watch;
    await failing.check('fault');
    expect(await failing.check('end')).toEqual([{ name: 'n', ok: null, detail: 'no answer' }]);
    expect(await (await watching('fault', [true]).watch).check('end')).toEqual([
      { name: 'n', ok: null, detail: 'never read' },
    ]);
  });
  test('what means something after the repair only is not asked before', async () => {
    const { watch, asked } = watching('end', [true]);
    expect(await (await watch).check('fault')).toEqual([]);
    expect(asked()).toBe(0);
  });
  test('a state that breaks between the two moments is seen', async () => {
    const { watch: made, asked } = watching('always', [true, false, true]);
    const watch = await made;
    await watch.during(() => expect.poll(asked, { timeout: 20_000 }).toBe(2));
    expect(await watch.check('fault')).toEqual([{ name: 'n', ok: false, detail: 'reading 2' }]);
  });
});
