// Runs the hops of a system: each as soon as the hops whose findings it reads have spoken, all
// others side by side.
import { messageOf } from '../base/message-of.ts';
import type { Finding, HopDefinition, Policies, Request } from './types.ts';

export interface Walked {
  readonly hop: HopDefinition<never>;
  readonly finding: Finding | null;
  /** Null when the hop was not run at all. */
  readonly startedMs: number;
  readonly durationMs: number;
  readonly deadlineMs: number;
  /** The probe itself broke: our mistake, not the platform's. */
  readonly internal?: string;
}

export interface WalkOptions {
  readonly request: Request;
  readonly policies: Promise<Policies>;
  readonly signal: AbortSignal;
  readonly now: () => number;
  /** Hops to ask; the others are not run. */
  readonly wanted: ReadonlySet<string>;
  readonly inOrder: boolean;
  readonly progress?: (id: string, finding: Finding) => void;
}

type AnyHop<C> = HopDefinition<C>;

export async function walk<C>(
  hops: readonly AnyHop<C>[],
  context: C,
  options: WalkOptions,
): Promise<Walked[]> {
  const done = new Map<string, Promise<Walked>>();
  const findings = new Map<string, Finding>();
  const start = async (hop: AnyHop<C>): Promise<Walked> => {
    const before = hop.after.filter((id) => options.wanted.has(id));
    await Promise.all(before.flatMap((id) => done.get(id) ?? []));
    const walked = await runHop(hop, context, findings, options);
    if (walked.finding) {
      findings.set(hop.id, walked.finding);
      options.progress?.(hop.id, walked.finding);
    }
    return walked;
  };
  const ordered = [...hops].sort((a, b) => a.order - b.order);
  let stopped = false;
  for (const hop of dataFirst(ordered, options.inOrder)) {
    if (!options.wanted.has(hop.id) || stopped) done.set(hop.id, Promise.resolve(notRun(hop)));
    else done.set(hop.id, start(hop));
    if (options.inOrder) stopped ||= (await done.get(hop.id))?.finding?.status === 'fail';
  }
  return Promise.all(ordered.map((hop) => done.get(hop.id) as Promise<Walked>));
}

/**
 * A hop must exist in `done` before another can wait for it; in order, the seeds' order is the law.
 */
function dataFirst<C>(hops: readonly AnyHop<C>[], inOrder: boolean): AnyHop<C>[] {
  const placed: AnyHop<C>[] = [];
  const place = (hop: AnyHop<C>) => {
    if (placed.includes(hop)) return;
    for (const id of hop.after) {
      const needed = hops.find((other) => other.id === id);
      if (needed) place(needed);
    }
    placed.push(hop);
  };
  if (inOrder) return [...hops];
  for (const hop of hops) place(hop);
  return placed;
}

const notRun = <C>(hop: AnyHop<C>): Walked => ({
  hop: hop as HopDefinition<never>,
  finding: null,
  startedMs: 0,
  durationMs: 0,
  deadlineMs: 0,
});

/** What a reading of an earlier hop is when that hop was not run. */
const absent: Finding = { status: 'skipped', summary: 'not run' };

async function runHop<C>(
  hop: AnyHop<C>,
  context: C,
  findings: ReadonlyMap<string, Finding>,
  options: WalkOptions,
): Promise<Walked> {
  const startedMs = options.now();
  const finish = (finding: Finding, deadlineMs: number, internal?: string): Walked => ({
    hop: hop as HopDefinition<never>,
    finding,
    startedMs,
    durationMs: options.now() - startedMs,
    deadlineMs: finding.deadlineMs ?? deadlineMs,
    ...(internal !== undefined && { internal }),
  });
  const skipped = hop.skip(options.request);
  if (skipped !== null) return finish({ status: 'skipped', summary: skipped }, 0);
  let deadlineMs = 0;
  let timer: NodeJS.Timeout | undefined;
  let over = false;
  let onAbort = () => {};
  const net = new Promise<Finding>((resolve) => {
    onAbort = () =>
      resolve({
        status: 'unknown',
        summary: `stopped before an answer: ${String(options.signal.reason ?? 'aborted')}`,
      });
    if (options.signal.aborted) onAbort();
    else options.signal.addEventListener('abort', onAbort, { once: true });
    void options.policies.then((policies) => {
      // A hop may be done before the policies are known; a timer set then would hold the process.
      if (over) return;
      deadlineMs = hop.deadlineMs(policies);
      const left = deadlineMs - (options.now() - startedMs);
      timer = setTimeout(
        () => resolve({ status: 'unknown', summary: `no verdict within ${deadlineMs} ms` }),
        Math.max(0, left),
      );
    });
  });
  try {
    const finding = await Promise.race([hop.run(context, (id) => findings.get(id) ?? absent), net]);
    return finish(finding, deadlineMs);
  } catch (error) {
    const text = messageOf(error);
    return finish(
      { status: 'unknown', summary: `the probe itself broke: ${text}` },
      deadlineMs,
      `${hop.id}: ${text}`,
    );
  } finally {
    over = true;
    clearTimeout(timer);
    options.signal.removeEventListener('abort', onAbort);
  }
}
