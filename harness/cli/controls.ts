// The controls of a catalogue run: could each scenario that passed have failed?
import { type Control, controlsOf, type Neighbours } from '../judge/controls.ts';
import type { RunRecord } from '../records/run-record.ts';
import { loadSystem, type System } from '../systems/index.ts';

export interface ControlledRun {
  readonly scenario: string;
  readonly controls: readonly Control[];
}

/** Of runs that did not pass nothing can be said. */
export async function controlled(records: readonly RunRecord[]): Promise<ControlledRun[]> {
  const runs: ControlledRun[] = [];
  for (const record of records.filter(({ verdict }) => verdict === 'pass')) {
    const neighbours = neighboursOf(await loadSystem(record.system));
    runs.push({ scenario: record.scenario, controls: controlsOf(record, neighbours) });
  }
  return runs;
}

export function controlCounts(runs: readonly ControlledRun[]): { passed: number; failed: number } {
  const all = runs.flatMap(({ controls }) => controls);
  const passed = all.filter(({ held }) => held).length;
  return { passed, failed: all.length - passed };
}

/** One line for each control that did not hold, and one for all. */
export function controlLines(runs: readonly ControlledRun[]): string[] {
  const { passed, failed } = controlCounts(runs);
  return [
    ...runs.flatMap(({ scenario, controls }) =>
      controls
        .filter(({ held }) => !held)
        .map(({ name, detail }) => `control: ${scenario}: ${name} does not fail alone (${detail})`),
    ),
    `controls: ${passed} of ${passed + failed} wrong expectations and forged windows fail as they must`,
  ];
}

/** Other values of the same kind, from the system's own declarations. */
export function neighboursOf(system: System): Neighbours {
  const hops = [...system.hops]
    .filter((hop) => hop.optional !== true)
    .sort((a, b) => a.order - b.order)
    .map(({ id }) => id);
  const signalsOf = (id: string): readonly string[] =>
    system.hops.find((hop) => hop.id === id)?.signals ?? [];
  const { history = [], page = [], userStates = [] } = system.words;
  return {
    hop: (hop) => after(hops, hop),
    signal: (hop, signal) => {
      const near = [...signalsOf(hop), ...signalsOf(after(hops, hop))];
      return other([...near, ...Object.keys(system.signals)], signal);
    },
    cause: (signal, cause) =>
      other([...(system.signals[signal]?.causes ?? []), ...Object.keys(system.causes)], cause),
    userState: (state) => after(userStates, state),
    historyWord: (known) => history.find((word) => !known.includes(word)) ?? 'never recorded',
    pageWord: (word) => other(page, word),
  };
}

/** The next of a list; the last one's neighbour is the one before it. */
function after(list: readonly string[], one: string): string {
  const at = list.indexOf(one);
  return list[at + 1] ?? list[at - 1] ?? `not ${one}`;
}

const other = (list: readonly string[], one: string): string =>
  list.find((candidate) => candidate !== one) ?? `not ${one}`;
