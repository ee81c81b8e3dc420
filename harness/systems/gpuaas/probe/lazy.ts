import { declaredWait } from '../../../base/spans.ts';
import { until } from '../../../base/until.ts';
import type { Finding } from '../../../preflight/types.ts';

/** Asked for at most once, when first needed; everybody gets the same answer. */
export function once<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | undefined;
  return () => {
    made ??= make();
    // Somebody may ask later, or nobody: an early failure must not end the process.
    made.catch(() => {});
    return made;
  };
}

/** Between two questions: the platform's time, not ours. */
export const sleep = (ms: number): Promise<void> => declaredWait('answer', ms);

/**
 * Asks again until the answer is something, the time is over or the run is stopped; quick at first,
 * then ever more patient. A `pause` may end early.
 */
export async function poll<T>(
  ask: () => Promise<T | null>,
  options: {
    forMs: number;
    everyMs: number;
    signal: AbortSignal;
    pause?: (ms: number) => Promise<void>;
  },
): Promise<T | null> {
  const { forMs: withinMs, everyMs, signal } = options;
  let pauseMs = everyMs;
  const pause = async (): Promise<void> => {
    await (options.pause ?? sleep)(pauseMs);
    pauseMs = Math.min(pauseMs * 1.1, 120);
  };
  const isSomething = (answer: T | null): boolean => answer !== null;
  return (await until(ask, isSomething, { everyMs, withinMs, signal, pause })).answer;
}

/**
 * The hop that already explains whatever a waiting hop could still find: further waiting would
 * change no verdict. Not asked in the first moment, in which a healthy answer comes.
 */
export function knownReason(earlier: (id: string) => Finding, began: number): string | null {
  if (performance.now() - began < 600) return null;
  const found = [
    'node_readiness',
    'node_runtime_api_reachability',
    'node_recovery_status',
    'node_heartbeat',
  ].find((id) => {
    const { status, cause } = earlier(id);
    return status === 'fail' || (id === 'node_heartbeat' && cause === 'process_down');
  });
  return found ?? null;
}
