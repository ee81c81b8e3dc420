import type { RunPlan } from '../records/plan.ts';
import type { PreflightReport } from '../records/preflight.ts';
import type { Profile } from '../records/profile.ts';
import type { Seen } from '../records/run-record.ts';
import type { Scenario } from '../records/scenario.ts';
import type { HookContext, SystemHooks } from '../systems/hooks.ts';
import type { RunFolder } from './run-folder.ts';

/** What the stages share besides the records that flow. Built once by `run.ts`. */
export interface StageDeps {
  readonly scenario: Scenario;
  readonly plan: RunPlan;
  readonly profile: Profile;
  readonly hooks: SystemHooks;
  readonly folder: RunFolder;
  readonly runId: string;
  /** When the run began, on the runner's clock. */
  readonly since: string;
  /** Aborted by SIGINT, SIGTERM, SIGHUP or the caller; observing stops, undoing does not. */
  readonly signal: AbortSignal;
  /** One preflight by the argv of the plan. */
  preflight(): Promise<PreflightReport>;
  note(text: string): void;
}

export function hookContext(deps: StageDeps, report?: PreflightReport | null): HookContext {
  const context: HookContext = {
    profile: deps.profile,
    node: deps.plan.node,
    runId: deps.runId,
    since: deps.since,
    signal: deps.signal,
    pictures: deps.folder.dir,
  };
  if (report === undefined || report === null) return context;
  const session = report.subject.session_id;
  return {
    ...context,
    correlationId: report.correlation_id,
    ...(session !== null && { sessionId: session }),
  };
}

export function seenOf(report: PreflightReport): Seen {
  return {
    at: report.started_at,
    result: report.result,
    hop: report.hop,
    signal: report.signal,
    cause: report.cause,
    also_failing: report.also_failing.map((one) => one.hop),
    because: [
      ...report.inconclusive_because,
      ...(report.error === null ? [] : [report.error.message]),
    ],
    duration_ms: report.duration_ms,
  };
}

export function wordsOf(seen: Seen): string {
  if (seen.result === 'failed')
    return `${seen.hop} / ${seen.signal}${seen.cause === null ? '' : ` / ${seen.cause}`}`;
  return seen.result === 'healthy' ? 'healthy' : `inconclusive (${seen.because.join('; ')})`;
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** `egress.block on node:node-1`: how a fault is called in checks and reasons. */
export function nameOf(deps: StageDeps, index: number): string {
  const fault = deps.plan.faults[index];
  return fault === undefined ? `fault ${index}` : `${fault.fault} on ${fault.target}`;
}

/** The proof that is the core's own, for every system. */
export const greenProof = 'preflight-green';
