// Is the stack ready? When the preflight of its system is green for each node, and not before.
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgv } from '../preflight/argv.ts';
import { runPreflight } from '../preflight/run.ts';
import type { Request } from '../preflight/types.ts';
import type { PreflightReport } from '../records/preflight.ts';
import type { Profile } from '../records/profile.ts';
import type { AskedSystem } from '../systems/index.ts';

const pauseMs = 60;
/** A round waits this long for its answers, and each further round a second longer. */
const firstRoundSeconds = 2;
const longestRoundSeconds = 10;

export interface ReadinessContext {
  readonly system: AskedSystem;
  readonly profile: Profile;
  readonly signal: AbortSignal;
  /** Called when a hop that did not pass does so now. */
  readonly reached: (what: string) => void;
  /** Called with what still stands in the way, so that a deadline can say it. */
  readonly waiting: (what: string, why: string) => void;
}

/** The stack is ready when this resolves; it asks again until then, or until the signal. */
export async function untilGreen(context: ReadinessContext): Promise<void> {
  const nodes = Object.keys(context.profile.nodes);
  const asked = nodes.length === 0 ? [null] : nodes;
  await Promise.all(asked.map((node) => untilNodeIsGreen(context, node)));
}

/**
 * The first hop that does not pass is asked again, with what it needs, until it does; then all are.
 * One whole preflight is the proof.
 */
async function untilNodeIsGreen(context: ReadinessContext, node: string | null): Promise<void> {
  const named = (what: string): string => (node === null ? what : `${node} ${what}`);
  let stuck: string | null = null;
  for (let round = 0; ; round += 1) {
    const seconds = Math.min(firstRoundSeconds + round, longestRoundSeconds);
    const limits = { deadline: seconds, ...(stuck !== null && { until: stuck }) };
    const report = await ask(context, node, limits);
    const hop = report.result === 'healthy' ? undefined : firstNotPassed(report);
    if (stuck !== null && hop?.id !== stuck) context.reached(named(stuck));
    if (hop === undefined && stuck === null && (await ask(context, node, {})).result === 'healthy')
      return context.reached(named('preflight'));
    stuck = hop?.id ?? null;
    if (hop !== undefined) {
      context.waiting(named(hop.id), hop.summary);
      await sleep(pauseMs, undefined, { signal: context.signal });
    }
  }
}

const firstNotPassed = (report: PreflightReport) =>
  report.hops.find(({ status }) => status === 'fail' || status === 'unknown');

async function ask(
  { system, profile, signal }: ReadinessContext,
  node: string | null,
  limits: Request['flags'],
): Promise<PreflightReport> {
  const parsed = parseArgv(system, system.argv(profile, node));
  if (!parsed.ok) throw new Error(parsed.errors.join('; '));
  const request = { ...parsed.request, flags: { ...parsed.request.flags, ...limits } };
  const report = await runPreflight(system, request, { signal });
  signal.throwIfAborted();
  return report;
}
