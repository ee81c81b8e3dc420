import type { Action } from '../records/action.ts';
import type { FaultPlan } from '../records/fault.ts';
import type { RunPlan } from '../records/plan.ts';
import type { Engine } from '../undo/engine.ts';

/**
 * Planned and executed actions as lines that can be compared. Both come as templates, so `{run}`,
 * `{deadline}` and `{snapshot:*}` are still placeholders. Polls (digests, the second channel) and
 * leases repeat by nature and are left out.
 */
export interface Done {
  readonly step: number;
  readonly phase: string;
  readonly action: Action;
}

const compared = ['snapshot', 'inject', 'undo'];

/**
 * In the order in which a run does it: all snapshots, the faults, the platform's repairs, and back
 * from the last fault to the first.
 */
export function plannedLines(
  faults: readonly FaultPlan[],
  repairs: readonly string[] = [],
): string[] {
  const line = (step: number, phase: string) => (action: Action) => lineOf({ step, phase, action });
  const snapshots = faults.flatMap((fault, step) =>
    fault.snapshot.map((one) => line(step, 'snapshot')(one.do)),
  );
  const injects = faults.flatMap((fault, step) => fault.inject.map(line(step, 'inject')));
  const undos = faults.map((fault, step) => fault.undo.map(line(step, 'undo'))).toReversed();
  return [...snapshots, ...injects, ...repairs.map(repairLine), ...undos.flat()];
}

const repairLine = (name: string): string => `repair ${name}`;

/** `repairs`: what the platform was asked to do, after how many of our own actions. */
export function executedLines(done: readonly Done[], repairs: Procedures): string[] {
  const lines = (part: readonly Done[]): string[] =>
    part.filter((one) => compared.includes(one.phase)).map(lineOf);
  return [
    ...lines(done.slice(0, repairs.after)),
    ...repairs.names.map(repairLine),
    ...lines(done.slice(repairs.after)),
  ];
}

/** What a run did, against what its plan said it would do. */
export function differencesOf(
  { faults, repair }: Pick<RunPlan, 'faults' | 'repair'>,
  engine: Engine,
  procedures: Procedures,
  { injected, repaired }: { readonly injected: boolean; readonly repaired: boolean },
): string[] {
  const superseded = engine.steps.flatMap(({ state, step }) =>
    state === 'superseded' ? [step] : [],
  );
  const executed = executedLines(engine.executed(), procedures);
  const isPrepared = (line: string): boolean =>
    engine.steps.some(({ step }) => line.startsWith(`${step} `));
  // What an injection did not come to is no difference: the rest of one that broke midway, and all
  // of a fault whose prior state could not be read.
  const isDue = (line: string): boolean =>
    executed.includes(line) || (isPrepared(line) && (injected || !/^\d+ inject /.test(line)));
  // Neither are repairs that were never begun.
  const repairs = repaired ? repair.map(({ name }) => name) : [];
  const planned = plannedLines(faults, repairs).filter(
    (line) => line.startsWith(repairLine('')) || isDue(line),
  );
  return differences(planned, executed, superseded);
}

/** The platform's own procedures that ran, after how many of our own actions. */
export interface Procedures {
  readonly names: readonly string[];
  readonly after: number;
}

/**
 * Differences between the two lists, in what was done and in its order; the undo of a superseded
 * step is meant not to run.
 */
export function differences(
  planned: readonly string[],
  executed: readonly string[],
  superseded: readonly number[],
): string[] {
  const expected = planned.filter(
    (line) => !superseded.some((step) => line.startsWith(`${step} undo `)),
  );
  const left = [...executed];
  const missing: string[] = [];
  for (const line of expected) {
    const index = left.indexOf(line);
    if (index === -1) missing.push(`planned, not executed: ${line}`);
    else left.splice(index, 1);
  }
  const unlike = [...missing, ...left.map((line) => `executed, not planned: ${line}`)];
  if (unlike.length > 0) return unlike;
  const at = expected.findIndex((line, index) => line !== executed[index]);
  return at === -1
    ? []
    : [`in another order: action ${at + 1} planned ${expected[at]}, executed ${executed[at]}`];
}

function lineOf({ step, phase, action }: Done): string {
  return `${step} ${phase} ${JSON.stringify(ordered(action))}`;
}

function ordered(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(ordered);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).filter(([, inner]) => inner !== undefined);
  return Object.fromEntries(
    entries.sort(([a], [b]) => (a < b ? -1 : 1)).map(([key, inner]) => [key, ordered(inner)]),
  );
}
