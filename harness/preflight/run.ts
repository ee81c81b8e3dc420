// One preflight: all hops asked, the causal rule applied, one report. Its only input is the record
// parsed from argv.
import type { PreflightReport } from '../records/preflight.ts';
import { attribute, type Judged } from './attribution.ts';
import { settleCharges } from './charges.ts';
import { newId, reportOf } from './document.ts';
import type { AnySystem, Conclusion, Finding, Request, RunHandle } from './types.ts';
import { type Walked, walk } from './walk.ts';

export interface RunOptions {
  /** Aborted with 'interrupted' or 'terminated': the report is then made of what is known. */
  readonly signal?: AbortSignal;
  readonly progress?: (id: string, finding: Finding) => void;
}

export async function runPreflight(
  system: AnySystem,
  request: Request,
  options: RunOptions = {},
): Promise<PreflightReport> {
  const began = performance.now();
  const now = () => performance.now() - began;
  const closing: (() => void | Promise<void>)[] = [];
  let over = false;
  const stop = new AbortController();
  const onAbort = () => stop.abort(options.signal?.reason ?? 'interrupted');
  if (options.signal?.aborted) onAbort();
  else options.signal?.addEventListener('abort', onAbort, { once: true });
  const run: RunHandle = {
    runId: newId('run'),
    correlationId: newId('pf'),
    startedAt: new Date(),
    signal: stop.signal,
    // What a stopped run was still opening is closed as soon as it is open.
    defer: (close) => {
      if (over) void Promise.resolve(close()).catch(() => {});
      else closing.push(close);
    },
  };
  let timer: NodeJS.Timeout | undefined;
  try {
    const context: unknown = system.open(request, run);
    const policies = system.policies(context as never);
    const wanted = wantedHops(system, request);
    const endAfter = (ms: number) => {
      timer = setTimeout(() => stop.abort('deadline'), Math.max(0, ms - now()));
    };
    // A deadline that was given does not wait for a deployment that does not tell its policies.
    if (typeof request.flags.deadline === 'number') endAfter(request.flags.deadline * 1000);
    else
      void policies.then((values) => {
        if (!over) endAfter(Math.max(...system.hops.map((hop) => hop.deadlineMs(values))) + 5000);
      });
    const seen = await walk(system.hops, context as never, {
      request,
      policies,
      signal: stop.signal,
      now,
      wanted,
      inOrder: request.flags['in-order'] === true,
      ...(options.progress && { progress: options.progress }),
    });
    const walked = settleCharges(seen);
    const attribution = attribute(walked.map(judged));
    const findings = new Map(
      walked.flatMap(({ hop, finding }) => (finding ? [[hop.id, finding] as const] : [])),
    );
    const conclusion = await concluded(system, context, { failed: attribution.failed, findings });
    const report = reportOf(system, {
      request,
      ...run,
      durationMs: now(),
      walked,
      attribution,
      conclusion,
      error: errorOf(walked, stop.signal),
    });
    if (report.result === 'healthy' && !report.partial)
      await system.healthy?.(context as never).catch(() => {});
    return report;
  } finally {
    over = true;
    clearTimeout(timer);
    options.signal?.removeEventListener('abort', onAbort);
    await Promise.allSettled(closing.map(async (close) => close()));
  }
}

const judged = ({ hop, finding }: Walked): Judged => ({
  id: hop.id,
  order: hop.order,
  explainedBy: hop.explainedBy,
  side: hop.side ?? false,
  status: finding?.status ?? 'not_run',
  blames: finding?.blames,
  inconclusive: finding?.inconclusive,
  charges: finding?.charges?.hop,
  doubts: finding?.doubts,
});

function wantedHops(system: AnySystem, { flags }: Request): ReadonlySet<string> {
  const all = system.hops;
  if (typeof flags.until === 'string') {
    const last = all.find((hop) => hop.id === flags.until)?.order ?? 0;
    return new Set(all.filter((hop) => hop.order <= last).map((hop) => hop.id));
  }
  if (typeof flags.only !== 'string') return new Set(all.map((hop) => hop.id));
  const wanted = new Set<string>();
  const add = (id: string): void => {
    if (wanted.has(id)) return;
    wanted.add(id);
    for (const needed of all.find((hop) => hop.id === id)?.after ?? []) add(needed);
  };
  for (const id of flags.only.split(',')) if (id !== '') add(id);
  return wanted;
}

function errorOf(walked: readonly Walked[], signal: AbortSignal): PreflightReport['error'] {
  if (signal.aborted) {
    const code = String(signal.reason);
    return {
      code,
      message:
        code === 'deadline'
          ? 'the deadline of the whole run passed'
          : `stopped by a signal (${code})`,
    };
  }
  const broken = walked.flatMap((one) => one.internal ?? []);
  return broken.length > 0 ? { code: 'internal', message: broken.join('; ') } : null;
}

async function concluded(
  system: AnySystem,
  context: unknown,
  outcome: { failed: string | null; findings: ReadonlyMap<string, Finding> },
): Promise<Conclusion> {
  const nothing: Conclusion = {
    userState: null,
    userAccess: null,
    scope: null,
    subject: {},
    proof: null,
  };
  return system.conclude(context as never, outcome).catch(() => nothing);
}
