/**
 * Takes one step back and proves it. The same for the engine, `hopdrill undo` and the watchdog;
 * only who says so differs.
 */
import { messageOf } from '../base/message-of.ts';
import { until } from '../base/until.ts';
import { type Action, type ActionResult, okCodesOf } from '../records/action.ts';
import type { StepState } from '../records/fault.ts';
import type { NewLine } from '../records/ledger.ts';
import type { Executor } from './execute.ts';
import { isFinal, type StepRecord } from './ledger.ts';

export interface StepOutcome {
  readonly state: StepState;
  readonly detail: string;
}

export interface StepContext {
  readonly executor: Pick<Executor, 'run'>;
  readonly by: string;
  append(line: NewLine): void;
  /** Whether the dead-man of the target has begun to undo this step. */
  readonly begunOnTarget?: (step: StepRecord) => Promise<boolean>;
  /** Tells the target's dead-man that the undo begins. */
  readonly beginOnTarget?: (step: StepRecord) => Promise<void>;
  onAction?(phase: 'digest' | 'undo', index: number, action: Action): void;
}

export class ActionError extends Error {
  readonly code = 'action_failed';
  constructor(what: string, result: ActionResult) {
    super(
      `${what} ended with ${result.code}: ${(result.stderr || result.stdout).trim().slice(0, 400)}`,
    );
    this.name = 'ActionError';
  }
}

export async function must(
  executor: Pick<Executor, 'run'>,
  what: string,
  action: Action,
  options: { idempotent?: boolean } = {},
): Promise<ActionResult> {
  const result = await executor.run(action, options);
  if (!okCodesOf(action).includes(result.code)) throw new ActionError(what, result);
  return result;
}

export async function digestOf(
  step: { plan: StepRecord['plan'] },
  context: Pick<StepContext, 'executor' | 'onAction'>,
): Promise<string> {
  context.onAction?.('digest', 0, step.plan.digest);
  return (
    await must(context.executor, `digest of ${step.plan.fault}`, step.plan.digest, {
      idempotent: true,
    })
  ).stdout.trimEnd();
}

/**
 * A repair put something else in place: neither what was there before the fault, nor what the fault
 * left. An undo that was cut in the middle looks the same; so a begun undo is always written down
 * first, and is then never mistaken for a repair.
 */
export async function isSuperseded(step: StepRecord, context: StepContext): Promise<boolean> {
  if (!step.plan.supersedable || step.digestInjected === null || step.undoing) return false;
  if ((await context.begunOnTarget?.(step)) === true) return false;
  const now = await digestOf(step, context);
  return now !== step.digestInjected && now !== step.digestBefore;
}

/** Runs the undo actions; does not yet say that it worked. */
export async function revert(step: StepRecord, context: StepContext): Promise<StepOutcome> {
  const note = (state: StepState, detail: string): StepOutcome => {
    context.append({
      type: 'step',
      step: step.step,
      state,
      at: new Date().toISOString(),
      by: context.by,
      detail,
    });
    return { state, detail };
  };
  if (isFinal(step.state)) return { state: step.state, detail: 'already done' };
  if (await isSuperseded(step, context))
    return note('superseded', 'a repair replaced what the fault had changed; nothing is put back');
  if (step.plan.supersedable && !step.undoing) {
    context.append({
      type: 'step',
      step: step.step,
      state: step.state,
      at: new Date().toISOString(),
      by: context.by,
      undoing: true,
    });
    await context.beginOnTarget?.(step);
  }
  for (const [index, action] of step.plan.undo.entries()) {
    context.onAction?.('undo', index, action);
    await must(context.executor, `undo of ${step.plan.fault}`, action, { idempotent: true });
  }
  return note('reverted', `${step.plan.undo.length} undo actions ran`);
}

/** Compares the digest until it is as before; a unit or a worker may take a moment. */
export async function verify(
  step: StepRecord,
  context: StepContext,
  withinMs = 6000,
): Promise<StepOutcome> {
  if (isFinal(step.state)) return { state: step.state, detail: 'already done' };
  const look = (): Promise<string> =>
    digestOf(step, context).catch((error: unknown) => `unreadable: ${messageOf(error)}`);
  const isAsBefore = (digest: string): boolean => digest === step.digestBefore;
  const { answer, met } = await until(look, isAsBefore, { everyMs: 100, withinMs });
  if (!met)
    return {
      state: 'ambiguous',
      detail: `the digest differs: ${JSON.stringify(answer.slice(0, 300))} instead of ${JSON.stringify(step.digestBefore.slice(0, 300))}`,
    };
  const detail = 'the digest is as it was before';
  context.append({
    type: 'step',
    step: step.step,
    state: 'verified',
    at: new Date().toISOString(),
    by: context.by,
    detail,
  });
  return { state: 'verified', detail };
}

/**
 * Both, for those who find a step that somebody else left. An undo that cannot run any more,
 * because the dead-man did it and took its copies along, is no failure as long as the digest is as
 * before.
 */
export async function takeBack(step: StepRecord, context: StepContext): Promise<StepOutcome> {
  let reverted: StepOutcome;
  try {
    reverted = await revert(step, context);
  } catch (error) {
    const seen = await verify(step, context, 0);
    if (seen.state === 'verified') return seen;
    throw error;
  }
  if (isFinal(reverted.state)) return reverted;
  return verify({ ...step, state: reverted.state }, context);
}
