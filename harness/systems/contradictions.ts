import type { FaultDefinition } from '../faults/define.ts';
import type { HopDeclaration } from '../preflight/types.ts';
import type { Ask } from './define.ts';
import type { Act } from './hooks.ts';

/** What a declaration says in two ways, or of something that is not there. */
export function contradictionsIn<C>(ask: Ask<C>): string[] {
  return [...ofHops(ask), ...ofOptionalHops(ask), ...ofSignals(ask)];
}

const namedBy = <C>(hop: HopDeclaration<C>): string[] => [
  ...hop.after,
  ...hop.explainedBy.map((by) => (typeof by === 'string' ? by : by.hop)),
];

function ofHops<C>({ hops, signals }: Ask<C>): string[] {
  const ids = hops.map(({ id }) => id);
  const twice = ids.filter((id, index) => ids.indexOf(id) !== index);
  return [
    ...twice.map((id) => `two hops are called ${id}`),
    ...hops.flatMap((hop, index) => [
      ...hop.after
        .filter((id) => ids.indexOf(id) >= index)
        .map((id) => `${hop.id} comes after ${id}, which stands later in the list`),
      ...namedBy(hop)
        .filter((id) => !ids.includes(id))
        .map((id) => `${hop.id} refers to ${id}, which is no hop`),
      ...hop.signals
        .filter((name) => signals[name] === undefined)
        .map((name) => `${hop.id} gives ${name}, which is no signal`),
    ]),
  ];
}

const ofOptionalHops = <C>({ hops, optionalHops }: Ask<C>): string[] =>
  hops
    .filter((hop) => hop.optional === true && optionalHops?.[hop.id] === undefined)
    .map((hop) => `${hop.id} is optional, and optionalHops does not say with what it is asked`);

function ofSignals<C>({ hops, signals, causes }: Ask<C>): string[] {
  const given = new Set(hops.flatMap((hop) => hop.signals));
  return Object.entries(signals).flatMap(([name, { advice = {}, causes: own }]) => [
    ...(given.has(name) ? [] : [`no hop gives ${name}`]),
    ...own
      .filter((cause) => causes[cause] === undefined)
      .map((cause) => `${name} has the cause ${cause}, which is not explained`),
    ...Object.keys(advice)
      .filter((cause) => !own.includes(cause))
      .map((cause) => `${name} has advice on ${cause}, which is none of its causes`),
  ]);
}

/** Of the faults that know no system and those of the system together, and of what mends them. */
export function contradictionsOfFaults(
  faults: readonly FaultDefinition[],
  { repairs }: Act,
): string[] {
  const names = faults.map(({ name }) => name);
  const twice = names.filter((name, index) => names.indexOf(name) !== index);
  return [
    ...twice.map((name) => `two faults are called ${name}`),
    ...faults.flatMap(({ name, params, targetParam, place = [], conflicts = {} }) => [
      ...[targetParam, ...place]
        .filter((param) => params.shape[param] === undefined)
        .map((param) => `${name} has no parameter ${param}`),
      ...Object.keys(conflicts)
        .filter((other) => !names.includes(other))
        .map((other) => `${name} conflicts with ${other}, which is no fault`),
    ]),
    ...Object.entries(repairs).flatMap(([name, { mends }]) =>
      mends
        .filter((fault) => !names.includes(fault))
        .map((fault) => `${name} mends ${fault}, which is no fault`),
    ),
  ];
}
