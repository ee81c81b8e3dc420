import { AsyncLocalStorage } from 'node:async_hooks';
import type { Patience } from './until.ts';

/**
 * Where a run's time goes. Drivers report their calls and stages their declared waits through
 * `measure`; what is left of a stage's wall is our own time. Nothing here knows a driver or a
 * stage.
 */
export type SpanKind = 'driver' | 'wait';
export interface Span {
  readonly kind: SpanKind;
  readonly name: string;
  readonly startMs: number;
  readonly endMs: number;
}

const collector = new AsyncLocalStorage<Span[]>();

/**
 * Runs `work` and reports how long it took to whoever collects; without a collector it costs
 * nothing.
 */
export async function measure<T>(kind: SpanKind, name: string, work: () => Promise<T>): Promise<T> {
  const spans = collector.getStore();
  if (spans === undefined) return work();
  const startMs = performance.now();
  try {
    return await work();
  } finally {
    spans.push({ kind, name, startMs, endMs: performance.now() });
  }
}

/** Runs `work` with a collector of its own and returns what it gave together with the spans. */
export async function collectSpans<T>(spans: Span[], work: () => Promise<T>): Promise<T> {
  return collector.run(spans, work);
}

/** Milliseconds covered by at least one span, inside [from, to]. Overlapping calls count once. */
export function unionMs(spans: readonly Span[], fromMs: number, toMs: number): number {
  const cut = spans
    .map((span) => ({ start: Math.max(span.startMs, fromMs), end: Math.min(span.endMs, toMs) }))
    .filter((span) => span.end > span.start)
    .sort((a, b) => a.start - b.start);
  let covered = 0;
  let reached = fromMs;
  for (const span of cut) {
    if (span.end <= reached) continue;
    covered += span.end - Math.max(span.start, reached);
    reached = span.end;
  }
  return covered;
}

/**
 * A wait for something that is not ours (effect, detection, an answer, recovery), interruptible.
 */
export async function declaredWait(name: string, ms: number, signal?: AbortSignal): Promise<void> {
  if (ms <= 0 || signal?.aborted === true) return;
  await measure(
    'wait',
    name,
    () =>
      new Promise<void>((resolve) => {
        const done = (): void => {
          clearTimeout(timer);
          signal?.removeEventListener('abort', done);
          resolve();
        };
        const timer = setTimeout(done, ms);
        signal?.addEventListener('abort', done, { once: true });
      }),
  );
}

/** The same patience, its waiting told as a declared wait of this name. */
export const declared = (name: string, patience: Patience): Patience => ({
  ...patience,
  pause: (ms) => declaredWait(name, ms, patience.signal),
});
