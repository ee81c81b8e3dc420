/**
 * Exit codes: one table for every command. A file of its own, because the preflight
 * loads no schema library.
 */
export const exitCodes = {
  pass: 0,
  fail: 1,
  inconclusive: 2,
  dirty: 3,
  aborted: 4,
  usage: 64,
  internal: 70,
  hungUp: 129,
  interrupted: 130,
  terminated: 143,
} as const;

/** The signals that end a run, after its undo. */
export const exitOfSignal = {
  SIGINT: exitCodes.interrupted,
  SIGTERM: exitCodes.terminated,
  SIGHUP: exitCodes.hungUp,
} as const;
export type EndingSignal = keyof typeof exitOfSignal;
export const endingSignals = Object.keys(exitOfSignal) as readonly EndingSignal[];

/** The code with which a command ends that had this run alone. */
export function exitCodeOf(run: {
  readonly verdict: Exclude<keyof typeof exitCodes, 'usage' | 'internal' | EndingCode>;
  readonly ended_by: { readonly kind: string; readonly name: string } | null;
}): number {
  if (run.verdict === 'dirty') return exitCodes.dirty;
  return interruptionOf(run.ended_by) ?? exitCodes[run.verdict];
}

type EndingCode = 'hungUp' | 'interrupted' | 'terminated';

/** 129, 130 or 143 when a signal ended it. */
export function interruptionOf(
  ended: { readonly kind: string; readonly name: string } | null,
): number | null {
  if (ended?.kind !== 'signal') return null;
  return exitOfSignal[ended.name as EndingSignal];
}
