import type { Advice, Signal } from './types.ts';

/** Who does what next about a cause; what holds for the whole signal where the cause has no own word. */
export function adviceOn(signal: Signal, cause: string | null): Advice {
  const own = cause === null ? undefined : signal.advice?.[cause];
  const { owner, next, command } = signal;
  if (own === undefined) return { owner, next, ...(command !== undefined && { command }) };
  return { owner, ...own };
}
