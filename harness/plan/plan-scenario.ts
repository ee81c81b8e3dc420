import { planFault } from '../faults/plan-fault.ts';
import { type Expectation, positionsOf } from '../records/expectation.ts';
import type { FaultPlan } from '../records/fault.ts';
import type { RunPlan } from '../records/plan.ts';
import type { Profile } from '../records/profile.ts';
import type { Scenario } from '../records/scenario.ts';
import { catalogue, type Demand, demandsOf } from '../scenarios/catalogue.ts';
import type { System } from '../systems/index.ts';
import { makePlan } from './plan.ts';

/** What a run will do (`hopdrill plan` prints it), and what is expected of it. */
export interface Plan {
  readonly scenario: Scenario;
  readonly run: RunPlan;
  readonly expectation: Expectation;
}

/** Touches nothing. A scenario that names no node is about the profile's first. */
export function planScenario(
  scenario: Scenario,
  profile: Profile,
  system: System,
  deadman = true,
): Plan {
  const { record } = scenario;
  const node = record.target.node ?? Object.keys(profile.nodes)[0] ?? null;
  const { signal } = record.expect;
  const optional = optionalHopFlags(scenario, profile, system);
  const run = makePlan({
    scenario,
    profile,
    system,
    node,
    deadman,
    // What is done to a node that is not there cannot be said; the plan is refused for it.
    faults:
      node === null || profile.nodes[node] !== undefined
        ? faultPlans(scenario, profile, node, system)
        : [],
    signal: signal === undefined ? undefined : system.signals[signal],
    argv: [...system.argv(profile, node), ...record.preflight, ...optional.argv],
    cannotAsk: optional.cannot,
  });
  return { scenario, run, expectation: expectationOf(scenario, run, system) };
}

function expectationOf(scenario: Scenario, { audit }: RunPlan, system: System): Expectation {
  const { file, record } = scenario;
  const { expect, source, not_covered: notCovered } = record;
  const serving = ({ kind, text }: Demand): string[] =>
    kind === 'evidence'
      ? Object.keys(system.evidence).filter((name) => system.evidence[name]?.texts?.includes(text))
      : expect.never.filter((name) => system.invariants[name]?.texts.includes(text));
  return {
    file,
    expect,
    proof: record.recover.proof,
    positions: positionsOf(scenario),
    demanded: demandsOf(source, catalogue()).map((demand) => ({
      ...demand,
      sources: serving(demand),
      not_covered: notCovered.find(({ text }) => text === demand.text)?.why ?? null,
    })),
    audit,
  };
}

/**
 * Flags of the optional hops that the scenario expects. The preflight gets flags, as from anybody,
 * and no scenario.
 */
function optionalHopFlags(
  { record }: Scenario,
  profile: Profile,
  system: System,
): { argv: string[]; cannot: string[] } {
  const argv: string[] = [];
  const cannot: string[] = [];
  for (const hop of [record.expect.hop, ...(record.expect.also ?? [])]) {
    const optional = system.optionalHops?.[hop];
    const flags = optional?.argv(profile);
    if (flags === null)
      cannot.push(
        `the scenario expects ${hop}, which cannot be asked with this profile: it needs ${optional?.needs}`,
      );
    argv.push(...(flags ?? []));
  }
  return { argv, cannot };
}

function faultPlans(
  scenario: Scenario,
  profile: Profile,
  node: string | null,
  { faults }: System,
): FaultPlan[] {
  return scenario.record.faults.flatMap((entry) =>
    Object.entries(entry).map(([name, params]) =>
      planFault(faults, { name, params }, profile, node),
    ),
  );
}
