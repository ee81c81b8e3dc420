import { type Expectation, placeOf } from '../records/expectation.ts';
import type { Reason, Verdict } from '../records/verdict.ts';

/** One thing to say, and what it alone makes of the run. */
export type Finding = readonly [verdict: Verdict, reason: Reason];

/** One thing that is not as expected, with the line of the scenario file that expects it. */
export function reason(
  expectation: Expectation,
  path: string,
  field: string,
  expected: string,
  observed: string,
): Reason {
  return { field, expected, observed, at: placeOf(expectation, path) };
}

/** A hop that is named, or a user who is told, after the budget of the severity is over. */
export function late(
  expectation: Expectation,
  field: string,
  afterMs: number | null,
  limitMs: number,
): Reason[] {
  if (afterMs === null || afterMs <= limitMs) return [];
  const seconds = (ms: number): string => `${(ms / 1000).toFixed(1)} s`;
  const [expected, observed] = [`within ${seconds(limitMs)}`, `after ${seconds(afterMs)}`];
  return [reason(expectation, 'expect.within', field, expected, observed)];
}
