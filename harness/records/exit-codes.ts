/**
 * Exit codes of DESIGN 5: one table for every command. A file of its own, because the preflight
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
