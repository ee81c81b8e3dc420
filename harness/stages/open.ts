import { resolve } from 'node:path';
import { planFault } from '../faults/index.ts';
import { parseArgv } from '../preflight/argv.ts';
import { runPreflight } from '../preflight/run.ts';
import type { Events } from '../records/events.ts';
import { type EndingSignal, endingSignals } from '../records/exit-codes.ts';
import type { FaultPlan } from '../records/fault.ts';
import type { RunPlan } from '../records/plan.ts';
import type { Profile } from '../records/profile.ts';
import { createRedactor } from '../records/redact.ts';
import type { Scenario } from '../records/scenario.ts';
import { loadSystem, type System } from '../systems/index.ts';
import { type Breaker, LeftoversError, openBreaker } from './breaker.ts';
import { type StageClock, startClock } from './clock.ts';
import type { StageDeps } from './deps.ts';
import { makePlan } from './plan.ts';
import { openRunFolder, pointLatest, type RunFolder, stampOf } from './run-folder.ts';
import { secretsOf } from './secrets.ts';

/** Everything that one run needs before its first stage, and the end of it all. */
export interface RunInput {
  readonly profile: Profile;
  readonly events?: Events;
  readonly options?: RunOptions;
}

export interface RunOptions {
  readonly out?: string;
  readonly signal?: AbortSignal;
  readonly stateDir?: string;
  readonly deadman?: boolean;
  /** The controls of the self-proof: no injection, and an effect record that says otherwise. */
  readonly withoutInjection?: boolean;
  readonly forgeEffect?: boolean;
  /** Called with the run folder when a run does not pass, before anything is put back. */
  readonly hold?: (dir: string) => Promise<void>;
}

export interface Run {
  readonly clock: StageClock;
  readonly deps: StageDeps;
  readonly folder: RunFolder;
  readonly refusals: readonly string[];
  /** What an earlier run left and nobody could take back. */
  readonly leftovers: readonly string[];
  breaker(): Breaker;
  interrupted(): EndingSignal | null;
  /** Ends the run as a signal of the user would: what is broken is put back. */
  abort(why: Error): void;
  /** What could not be proven to be back. */
  close(): Promise<readonly string[]>;
}

export const defaultOut = resolve(import.meta.dirname, '../../reports/out');

export async function openRun(scenario: Scenario, input: RunInput): Promise<Run> {
  const { profile, options = {}, events = () => {} } = input;
  const system = await loadSystem(scenario.record.system);
  const started = new Date();
  const stamp = stampOf(started);
  const runId = runIdOf(stamp, scenario.record.scenario);
  const out = options.out ?? defaultOut;
  const folder = openRunFolder(
    out,
    `${stamp}-${scenario.record.scenario.replaceAll('/', '.')}`,
    createRedactor(secretsOf(profile)),
  );
  pointLatest(out, folder.dir);
  const clock = startClock(scenario.record.scenario, runId, folder, events);
  events({
    event: 'run',
    at: started.toISOString(),
    scenario: scenario.record.scenario,
    run_id: runId,
    stack: profile.stack,
    dir: folder.dir,
  });
  const plan = await clock.stage(
    'plan',
    null,
    () => Promise.resolve(planRun(scenario, profile, system, runId, options.deadman ?? true)),
    (made) => made.refusals.join('; '),
  );
  folder.json('plan.json', plan);
  folder.json('preflight-argv.json', plan.preflight_argv);
  folder.json('scenario.json', { file: scenario.file, record: scenario.record });
  const guard = new AbortController();
  const stopped = options.signal ?? new AbortController().signal;
  const signal = AbortSignal.any([stopped, guard.signal]);
  const deps: StageDeps = {
    scenario,
    plan,
    profile,
    hooks: system,
    folder,
    runId,
    since: started.toISOString(),
    signal,
    note: clock.note,
    preflight: () => preflightOnce(system, plan.preflight_argv, signal),
  };
  const { breaker, refusals, leftovers } = await breakerUnlessRefused(deps, options);
  return {
    clock,
    deps,
    folder,
    refusals,
    leftovers,
    breaker() {
      if (breaker === undefined) throw new Error('the run was refused');
      return breaker;
    },
    interrupted: () =>
      stopped.aborted ? (endingSignals.find((name) => name === stopped.reason) ?? 'SIGINT') : null,
    abort: (why) => guard.abort(why),
    close: async () => (await breaker?.close()) ?? [],
  };
}

/** A plan that is refused opens nothing; a stack that cannot be broken safely refuses the run. */
async function breakerUnlessRefused(
  deps: StageDeps,
  { deadman = true, stateDir }: RunOptions,
): Promise<Pick<Run, 'refusals' | 'leftovers'> & { readonly breaker?: Breaker }> {
  const { refusals } = deps.plan;
  if (deps.signal.aborted)
    return { refusals: ['told to end before anything began'], leftovers: [] };
  if (refusals.length > 0) return { refusals, leftovers: [] };
  try {
    return { breaker: await openBreaker(deps, { deadman, stateDir }), refusals, leftovers: [] };
  } catch (error) {
    return {
      refusals: [(error as Error).message],
      leftovers: error instanceof LeftoversError ? error.leftovers : [],
    };
  }
}

/**
 * The plan of one scenario on one deployment; `hopdrill plan` prints it, a run begins with it. A
 * scenario that names no node is about the profile's first.
 */
export function planRun(
  scenario: Scenario,
  profile: Profile,
  system: System,
  runId: string,
  deadman = true,
): RunPlan {
  const { record } = scenario;
  const node = record.target.node ?? Object.keys(profile.nodes)[0] ?? null;
  const { signal } = record.expect;
  const onPurpose = askedOnPurpose(scenario, profile, system);
  return makePlan({
    scenario,
    profile,
    hooks: system,
    node,
    runId,
    deadman,
    // What is done to a node that is not there cannot be said; the plan is refused for it.
    faults:
      node === null || profile.nodes[node] !== undefined ? faultPlans(scenario, profile, node) : [],
    signal: signal === undefined ? undefined : system.signals[signal],
    argv: [...system.argvFromProfile(profile, node), ...record.preflight, ...onPurpose.argv],
    cannotAsk: onPurpose.cannot,
  });
}

/**
 * Flags of the optional hops that the scenario expects. The preflight gets flags, as from anybody,
 * and no scenario.
 */
function askedOnPurpose(
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

function faultPlans(scenario: Scenario, profile: Profile, node: string | null): FaultPlan[] {
  return scenario.record.faults.flatMap((entry) =>
    Object.entries(entry).map(([name, params]) => planFault(name, params, profile, node)),
  );
}

async function preflightOnce(
  system: System,
  argv: readonly string[],
  signal: AbortSignal,
): ReturnType<typeof runPreflight> {
  const parsed = parseArgv(system, argv);
  if (!parsed.ok) throw new Error(`preflight: ${parsed.errors.join('; ')}`);
  return runPreflight(system, parsed.request, { signal });
}

/**
 * Unique by time, readable by people who find it on a target. Short enough that `<run>-audit` is a
 * run id as well.
 */
export function runIdOf(stamp: string, scenario: string): string {
  return `r${stamp.replace(/[^0-9]/g, '').slice(2)}-${scenario.replaceAll(/[^a-z0-9]+/g, '-')}`
    .slice(0, 54)
    .replace(/-+$/, '');
}
