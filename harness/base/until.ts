import { setTimeout as sleep } from 'node:timers/promises';

export interface Patience {
  readonly everyMs: number;
  readonly withinMs: number;
  /** Ends the asking after the answer that is under way. */
  readonly signal?: AbortSignal | undefined;
  /** How to wait between two questions, where somebody counts the waiting. */
  readonly pause?: (ms: number) => Promise<void>;
}

export interface Answered<T> {
  /** The last answer. */
  readonly answer: T;
  /** It was enough; false when the time was over or the signal came first. */
  readonly met: boolean;
  readonly afterMs: number;
}

/** Asks again and again until the answer is enough; at least once, and once more at the end. */
export async function until<T>(
  ask: () => Promise<T>,
  isEnough: (answer: T) => boolean,
  { everyMs, withinMs, signal, pause = sleepUnless(signal) }: Patience,
): Promise<Answered<T>> {
  const startedMs = performance.now();
  for (;;) {
    const answer = await ask();
    const met = isEnough(answer);
    const afterMs = performance.now() - startedMs;
    if (met || afterMs >= withinMs || signal?.aborted === true) return { answer, met, afterMs };
    await pause(everyMs);
  }
}

const sleepUnless =
  (signal: AbortSignal | undefined) =>
  (ms: number): Promise<void> =>
    sleep(ms, undefined, signal && { signal }).catch(() => undefined);
