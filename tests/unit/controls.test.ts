import { describe, expect, test } from 'vitest';
import { controlsOf, forged, type Neighbours } from '../../harness/judge/controls.ts';
import { judge } from '../../harness/judge/judge.ts';
import type { RunRecord, UnjudgedRun } from '../../harness/records/run-record.ts';
import { expectation, expectUser, observation, run, seen, user } from './unjudged-run.ts';

const neighbours: Neighbours = {
  hop: (hop) => `${hop}-next`,
  signal: (_, signal) => `${signal}-next`,
  cause: (_, cause) => `${cause}-next`,
  userState: () => 'temporary',
  historyWord: () => 'never-recorded',
  pageWord: (word) => `${word}-next`,
};

const recordOf = (unjudged: UnjudgedRun): RunRecord => {
  const { verdict, reasons, leftovers } = judge(unjudged);
  expect(verdict, JSON.stringify(reasons)).toBe('pass');
  return { ...unjudged, verdict, reasons: [...reasons], leftovers: [...leftovers] };
};
const named = recordOf(
  run({
    expectation: expectation({ user: { ...expectUser }, never: ['n'] }),
    observation: observation({ user }),
    invariants: [{ name: 'n', ok: true, detail: 'held' }],
  }),
);
const healthy = seen({
  ...{ result: 'healthy', hop: null, signal: null, cause: null, confidence: null },
});
const green = recordOf(
  run({
    expectation: expectation({
      ...{ hop: 'none', signal: undefined, cause: undefined },
      ...{ result: 'healthy', history: ['recovering', 'normal'] },
    }),
    observation: observation({
      ...{ preflights: [healthy], judged: null, detected_after_ms: null },
      history: ['recovering', 'normal'],
    }),
  }),
);

describe('the controls of a run', () => {
  test('flip each expected item by itself, and each fails for that item alone', () => {
    const controls = controlsOf(named, neighbours);
    expect(controls.map(({ name }) => name)).toEqual([
      ...['wrong hop', 'wrong signal', 'wrong cause', 'wrong confidence'],
      ...['wrong user.state', 'wrong user.access', 'wrong user.page', 'wrong never'],
      'forged window',
    ]);
    expect(controls.filter(({ held }) => !held)).toEqual([]);
  });

  test('of a green situation flip its result and each word of its history', () => {
    const controls = controlsOf(green, neighbours);
    expect(controls.map(({ name }) => name)).toEqual([
      ...['wrong result', 'wrong history', 'wrong history'],
      'forged window',
    ]);
    expect(controls.filter(({ held }) => !held)).toEqual([]);
  });

  test('say so when a wrong expectation would pass too', () => {
    const same = { ...neighbours, signal: (_: string, signal: string) => signal };
    expect(controlsOf(named, same).filter(({ held }) => !held)).toMatchObject([
      { name: 'wrong signal', detail: 'pass: ' },
    ]);
  });

  test('say so when nothing has to happen for the file to pass', () => {
    const idle = recordOf(
      run({
        expectation: expectation({
          ...{ hop: 'none', signal: undefined, cause: undefined, result: 'healthy' },
        }),
        observation: observation({ preflights: [healthy], judged: null }),
      }),
    );
    expect(controlsOf(idle, neighbours).filter(({ held }) => !held)).toMatchObject([
      { name: 'forged window', detail: 'pass: ' },
    ]);
  });

  test('forge the window from the preflight before the fault', () => {
    expect(forged(named).observation).toMatchObject({ preflights: [healthy], judged: null });
  });
});
