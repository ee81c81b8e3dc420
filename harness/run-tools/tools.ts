import type { Plan } from '../plan/plan-scenario.ts';
import { parseArgv } from '../preflight/argv.ts';
import { runPreflight } from '../preflight/run.ts';
import type { Events, StageName } from '../records/events.ts';
import { type EndingSignal, endingSignals } from '../records/exit-codes.ts';
import type { PreflightReport } from '../records/preflight.ts';
import type { Profile } from '../records/profile.ts';
import { createRedactor, type Redact } from '../records/redact.ts';
import type { HookContext } from '../systems/hooks.ts';
import type { System } from '../systems/index.ts';
import { openEngine } from '../undo/engine.ts';
import { openRunFolder, pointLatest, stampOf } from './folder.ts';
import { folderListener, tellAll } from './listeners.ts';
import { type Head, openRecordBook, type RecordBook } from './record-book.ts';
import { secretsOf } from './secrets.ts';
import { type StepOptions, startClock } from './steps.ts';
import { openViews, type Views } from './views.ts';

/** What steps work with, besides the values that flow between them. */
export interface Tools extends Omit<RecordBook, 'failed'> {
  readonly profile: Profile;
  readonly system: System;
  readonly runId: string;
  /** The run folder. */
  readonly dir: string;
  readonly redact: Redact;
  readonly stateDir: string | undefined;
  readonly deadman: boolean;
  readonly openEngine: typeof openEngine;
  /** Aborted by a signal, a guard or the caller: asking ends, putting back does not. */
  readonly signal: AbortSignal;
  /** Ends the asking half, as a signal of the user would. */
  stop(why: Error): void;
  /** The signal of the user that ended the run, if one did. */
  interruption(): EndingSignal | null;
  /** One preflight by the argv of the plan. */
  preflight(): Promise<PreflightReport>;
  /** What a system's hooks are given: the deployment, and nothing of why they are asked. */
  context(report?: PreflightReport | null): HookContext;
  /** The readers of the platform. */
  readonly views: Views;
  note(text: string): void;
  /** One item of a stream, on the disk before this returns. */
  emit(stream: string, value: unknown): void;
  /** Undefined when the step threw: then the record says so. */
  step<T>(
    stage: StageName,
    work: () => Promise<T>,
    options?: StepOptions<T>,
  ): Promise<T | undefined>;
  /** With --keep-on-fail: waits with the fault active until somebody has looked. */
  readonly hold: (() => Promise<void>) | undefined;
}

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
  /** Called with the run folder when a run does not pass, before anything is put back. */
  readonly hold?: (dir: string) => Promise<void>;
  /** How faults are broken and taken back; the undo engine, unless the caller brings another. */
  readonly openEngine?: typeof openEngine;
}

export function openTools(
  plan: Plan,
  system: System,
  out: string,
  { profile, events, options = {} }: RunInput,
): Tools {
  const head = headOf(plan, profile);
  const { run_id: runId, scenario, started_at: since } = head;
  const redact = createRedactor(secretsOf(profile), system.secretForms);
  const name = `${stampOf(new Date(since))}-${scenario.replaceAll('/', '.')}`;
  const folder = openRunFolder(out, name, redact);
  pointLatest(out, folder.dir);
  const listeners = [folderListener(folder), ...(events ? [{ event: events }] : [])];
  const { tell, failures } = tellAll(listeners);
  const clock = startClock({ scenario, run_id: runId }, redact, tell);
  const book = openRecordBook(head, folder, clock, tell);
  const { stack } = profile;
  tell('event', { event: 'run', at: since, scenario, run_id: runId, stack, dir: folder.dir });
  book.attachJson('plan.json', plan.run);
  book.attachJson('preflight-argv.json', plan.run.preflight_argv);
  book.attachJson('scenario.json', { file: plan.scenario.file, record: plan.scenario.record });
  const { hold } = options;
  const ending = endingOf(options.signal);
  const { signal } = ending;
  const context: Tools['context'] = (report) => ({
    ...{ profile, node: plan.run.node, runId, since, signal },
    attach: (file, content) => void book.attach(file, content),
    ...idsOf(report),
  });
  return {
    ...book,
    ...ending,
    profile,
    system,
    runId,
    dir: folder.dir,
    redact,
    stateDir: options.stateDir,
    deadman: options.deadman ?? true,
    openEngine: options.openEngine ?? openEngine,
    preflight: () => preflightOnce(system, plan.run.preflight_argv, signal),
    context,
    views: openViews(system.views, context),
    note: clock.note,
    emit: (stream, value) => tell('item', stream, value),
    async step(stage, work, stepOptions = {}) {
      try {
        const result = await clock.time(stage, work, stepOptions);
        book.record(stepOptions.parts?.(result) ?? {});
        return result;
      } catch (error) {
        book.failed(stage, error);
        return undefined;
      }
    },
    hold: hold && (() => hold(folder.dir)),
    finish(judgement) {
      const whole = book.finish(judgement);
      const [failure] = failures;
      if (failure !== undefined) throw failure;
      return whole;
    },
  };
}

function endingOf(stopped = new AbortController().signal) {
  const own = new AbortController();
  return {
    signal: AbortSignal.any([stopped, own.signal]),
    stop: (why: Error) => own.abort(why),
    interruption: () =>
      stopped.aborted ? (endingSignals.find((name) => name === stopped.reason) ?? 'SIGINT') : null,
  };
}

function idsOf(report?: PreflightReport | null): Partial<HookContext> {
  if (report === undefined || report === null) return {};
  return { correlationId: report.correlation_id, subject: report.subject };
}

function headOf({ scenario, run, expectation }: Plan, { stack }: Profile): Head {
  const { title, why, source, tags, severity, system, scenario: name } = scenario.record;
  const startedAt = new Date();
  return {
    run_id: runIdOf(stampOf(startedAt), name),
    scenario: name,
    ...{ title, why, source, tags, severity, system, stack, node: run.node },
    started_at: startedAt.toISOString(),
    expectation,
  };
}

async function preflightOnce(
  system: System,
  argv: readonly string[],
  signal: AbortSignal,
): Promise<PreflightReport> {
  const parsed = parseArgv(system, argv);
  if (!parsed.ok) throw new Error(`preflight: ${parsed.errors.join('; ')}`);
  return runPreflight(system, parsed.request, { signal });
}

/**
 * Unique by time, readable by people who find it on a target. Short enough that `<run>-audit` is a
 * run id as well.
 */
export function runIdOf(stamp: string, scenario: string): string {
  const words = scenario.replaceAll(/[^a-z0-9]+/g, '-');
  return `r${stamp.replace(/[^0-9]/g, '').slice(2)}-${words}`.slice(0, 54).replace(/-+$/, '');
}
