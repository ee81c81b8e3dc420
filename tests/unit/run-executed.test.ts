// Acceptance 4: what ran is what was planned, in its order; leases, polls and superseded undos
// apart.
import { describe, expect, test } from 'vitest';
import {
  type Done,
  differences,
  differencesOf,
  executedLines,
  plannedLines,
} from '../../harness/plan/actions.ts';
import type { FaultPlan } from '../../harness/records/fault.ts';
import type { Engine } from '../../harness/undo/engine.ts';

const act = (name: string) =>
  ({ kind: 'docker', verb: 'stop', container: name }) as unknown as Done['action'];
const fault = (name: string) =>
  ({
    snapshot: [{ name: 's', do: act(`${name}-look`) }],
    inject: [act(`${name}-break`)],
    undo: [act(`${name}-back`), act(`${name}-check`)],
  }) as unknown as FaultPlan;
const faults = [fault('a'), fault('b')];
const ran = (step: number, phase: string, name: string): Done => ({
  step,
  phase,
  action: act(name),
});
const snapshots = [
  ran(0, 'snapshot', 'a-look'),
  ran(0, 'digest', 'd'),
  ran(1, 'snapshot', 'b-look'),
];
const injects = [
  ran(0, 'inject', 'a-break'),
  ran(1, 'inject', 'b-break'),
  ran(0, 'active', 'poll'),
];
const undoA = [ran(0, 'undo', 'a-back'), ran(0, 'undo', 'a-check')];
const undoB = [ran(1, 'undo', 'b-back'), ran(1, 'undo', 'b-check')];
const broken = [...snapshots, ...injects];
const planned = plannedLines(faults, ['node.repair']);
const compare = (
  done: readonly Done[],
  repairs = { names: ['node.repair'], after: broken.length },
  superseded: number[] = [],
) => differences(planned, executedLines(done, repairs), superseded);

describe('executed against planned', () => {
  test('the same, in order, with polls in between', () => {
    expect(compare([...broken, ...undoB, ...undoA])).toEqual([]);
  });
  test.each<[string, Done[]]>([
    ['undone from first to last', [...broken, ...undoA, ...undoB]],
    ['the actions of one undo turned round', [...broken, ...undoB.toReversed(), ...undoA]],
    [
      'the faults injected the other way round',
      [...snapshots, ...injects.toReversed(), ...undoB, ...undoA],
    ],
  ])('%s is another order', (_, done) => {
    expect(compare(done)).toEqual([
      expect.stringMatching(/^in another order: action \d+ planned .*, executed /),
    ]);
  });
  test('a repair after the undo is another order', () => {
    const all = [...broken, ...undoB, ...undoA];
    expect(compare(all, { names: ['node.repair'], after: all.length })).toEqual([
      expect.stringContaining('planned repair node.repair'),
    ]);
  });
  test('what is missing and what is too much is named', () => {
    expect(compare([...broken, ...undoB], { names: [], after: 0 })).toEqual([
      'planned, not executed: repair node.repair',
      expect.stringContaining('planned, not executed: 0 undo'),
      expect.stringContaining('planned, not executed: 0 undo'),
    ]);
    expect(compare([...broken, ...undoB, ...undoA, ...undoA.slice(0, 1)])).toEqual([
      expect.stringContaining('executed, not planned: 0 undo'),
    ]);
  });
  test('a superseded undo is meant not to run', () => {
    expect(compare([...broken, ...undoA], undefined, [1])).toEqual([]);
  });
});

describe('an injection that did not come to its end', () => {
  const notInjected = (steps: number[], done: readonly Done[]) =>
    differencesOf(
      { faults, repair: [] },
      {
        steps: steps.map((step) => ({ step, state: 'verified' })),
        executed: () => done,
      } as unknown as Engine,
      { names: [], after: done.length },
      { injected: false, repaired: false },
    );
  const [first] = injects;

  test('a prior state that cannot be read: nothing else was due', () => {
    expect(notInjected([], snapshots.slice(0, 1))).toEqual([]);
  });
  test('broken midway: the rest was not due, the undo is', () => {
    expect(notInjected([0, 1], [...snapshots, first!, ...undoB, ...undoA])).toEqual([]);
    expect(notInjected([0, 1], [...snapshots, first!, ...undoB])).toEqual([
      expect.stringContaining('planned, not executed: 0 undo'),
      expect.stringContaining('planned, not executed: 0 undo'),
    ]);
  });
  test('what was done and not planned is still named', () => {
    const stranger = ran(0, 'inject', 'stranger');
    expect(notInjected([0, 1], [...snapshots, stranger, ...undoB, ...undoA])).toEqual([
      expect.stringContaining('executed, not planned: 0 inject'),
    ]);
  });
});
