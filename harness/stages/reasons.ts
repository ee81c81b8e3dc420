import { at, type Scenario } from '../records/scenario.ts';
import type { Reason } from '../records/verdict.ts';

export function reason(
  scenario: Scenario,
  path: string,
  field: string,
  expected: string,
  observed: string,
): Reason {
  return { field, expected, observed, at: at(scenario, path) };
}

/**
 * The seeds' budget for what is named and for what the user is told; a late answer is a wrong one.
 */
export function late(
  scenario: Scenario,
  field: string,
  afterMs: number | null,
  limitMs: number,
): Reason[] {
  if (afterMs === null || afterMs <= limitMs) return [];
  const seconds = (ms: number): string => `${(ms / 1000).toFixed(1)} s`;
  return [
    reason(
      scenario,
      'expect.within',
      field,
      `within ${seconds(limitMs)}`,
      `after ${seconds(afterMs)}`,
    ),
  ];
}
