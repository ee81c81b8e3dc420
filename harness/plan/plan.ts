import { carriersOf } from '../faults/carriers.ts';
import type { Signal } from '../preflight/types.ts';
import { durationMs } from '../records/duration.ts';
import type { FaultPlan } from '../records/fault.ts';
import type { RunPlan } from '../records/plan.ts';
import { type Profile, watchedDatabase } from '../records/profile.ts';
import type { Scenario } from '../records/scenario.ts';
import type { System } from '../systems/define.ts';
import type { Formula } from '../systems/hooks.ts';
import { plannedLines } from './actions.ts';
import { lifelinesOf, refusalsOf } from './refusals.ts';

/**
 * Says what a run will do, to which target, what is cut and how long it may take. Touches nothing.
 */
export interface PlanInput {
  readonly scenario: Scenario;
  readonly profile: Profile;
  readonly system: System;
  readonly faults: readonly FaultPlan[];
  readonly node: string | null;
  /** What must be named, and how soon; undefined for situations that stay green. */
  readonly signal: Pick<Signal, 'within' | 'budget'> | undefined;
  readonly argv: readonly string[];
  /** Expected hops that this deployment cannot be asked. */
  readonly cannotAsk: readonly string[];
  readonly deadman: boolean;
}

export function makePlan(input: PlanInput): RunPlan {
  const { scenario, profile, faults } = input;
  const { record } = scenario;
  const cuts = [...new Set(faults.flatMap((fault) => fault.cuts))];
  const targets = [...new Set(faults.map((fault) => fault.target))];
  const lifelines = lifelinesOf(profile, targets, cuts);
  const names = Array.isArray(record.repair) ? record.repair : [];
  return {
    schema_version: 1,
    scenario: record.scenario,
    file: scenario.file,
    title: record.title,
    system: record.system,
    stack: profile.stack,
    environment: profile.environment,
    node: input.node,
    severity: record.severity,
    faults: [...faults],
    targets,
    cuts,
    lifelines,
    blast_radius: blastRadius(input, targets),
    actions: plannedLines(faults, names),
    undo: [...faults]
      .reverse()
      .map(
        (fault) =>
          `undo ${fault.fault} on ${fault.target}: ${fault.undo.length} actions, held by ${carriersOf(fault).join(' and ')}`,
      ),
    repair: names.map((name) => ({
      name,
      title: input.system.repairs[name]?.title ?? name,
      command: input.system.repairs[name]?.command ?? '',
    })),
    proofs: [...record.recover.proof],
    invariants: [...record.expect.never],
    guards: (profile.guard ?? []).map(
      ({ name, url, status }) => `${name}: ${url} answers ${status}`,
    ),
    budgets: budgetsOf(input),
    preflight_argv: [...input.argv],
    audit:
      watchedDatabase(profile) !== undefined
        ? 'watched'
        : profile.database !== undefined
          ? 'declared_unwatched'
          : 'unwatched',
    refusals: refusalsOf(input, lifelines),
  };
}

function budgetsOf(input: PlanInput): RunPlan['budgets'] {
  const { scenario, profile, system, signal } = input;
  const { expect, recover } = scenario.record;
  const policies = profile.policies;
  const limit = limitOf(input);
  const detect = Math.min((signal?.within(policies) ?? 15) * 1000, limit);
  const proofs = recover.proof.map((name) => secondsOfProof(system, name)(policies));
  const usual = (system.budgets.settle(policies) + Math.max(0, ...proofs)) * 1000;
  const recoverMs =
    recover.within === 'default' ? usual : Math.min(usual, durationMs(recover.within));
  const effect = system.budgets.effect(policies) * 1000;
  // Only a state that changes waits for the platform to see it; what is refused is refused at once.
  const changes = expect.user !== undefined && expect.user.state !== system.words.userStates?.[0];
  const seconds = changes
    ? system.budgets.userState?.(policies)
    : expect.user?.access === undefined
      ? 0
      : system.budgets.userAccess?.(policies);
  const user =
    expect.user === undefined ? 0 : Math.min(Math.max(detect, (seconds ?? 0) * 1000), limit);
  const total = effect + detect + user + recoverMs;
  return {
    effect_ms: effect,
    detect_ms: detect,
    user_ms: user,
    limit_ms: limit,
    recover_ms: recoverMs,
    total_ms: total,
  };
}

function secondsOfProof({ proofs, views }: System, name: string): Formula {
  const proof = proofs[name];
  if (proof === undefined) return () => 0;
  const observed = 'observe' in proof ? proof.observe.flatMap(Object.keys) : [];
  const formulas = proof.within ? [proof.within] : observed.map((view) => views[view]?.within);
  return (policies) => Math.max(0, ...formulas.map((formula) => formula?.(policies) ?? 0));
}

/**
 * The budget of the signal, else of the severity; a file may tighten it. Later than this is
 * too late, however long was waited.
 */
function limitOf({ scenario, system, signal }: PlanInput): number {
  const { expect, severity } = scenario.record;
  const budget =
    Math.min(signal?.budget ?? Number.POSITIVE_INFINITY, system.budgets.severity[severity]) * 1000;
  return expect.within === 'default' ? budget : Math.min(budget, durationMs(expect.within));
}

/** Everything that may be felt, in words: the target, and what hangs on it. */
function blastRadius(
  { profile, system, node }: Pick<PlanInput, 'profile' | 'system' | 'node'>,
  targets: readonly string[],
): string[] {
  const radius = new Set(targets);
  if (node !== null && profile.nodes[node] !== undefined)
    for (const thing of system.onNode?.(profile, node) ?? []) radius.add(thing);
  if (targets.some((target) => target.startsWith('part:')))
    for (const name of Object.keys(profile.nodes))
      radius.add(`node:${name} (through the shared part)`);
  return [...radius];
}
