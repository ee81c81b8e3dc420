/**
 * What the watchdog does when a lease is over; loaded only when one is about to end, since it is
 * most of its memory.
 */
import { messageOf } from '../base/message-of.ts';
import { createExecutor, type Executor } from './execute.ts';
import {
  isFinal,
  type Ledger,
  type LedgerState,
  openLedger,
  readLedger,
  type StepRecord,
} from './ledger.ts';
import { partsChanged, removeNote } from './part-notes.ts';
import { ledgerDir } from './paths.ts';
import { isToxiproxySilent, reviveToxiproxy } from './revive.ts';
import { revert, type StepContext, verify } from './step.ts';

/** What of a step this process can take back; nodes have a dead-man of their own. */
function hostPart(step: StepRecord): { step: StepRecord; verifies: boolean } | null {
  const undo = step.plan.undo.filter((action) => action.kind !== 'sh');
  if (undo.length === 0 || isFinal(step.state)) return null;
  const verifies = step.plan.digest.kind !== 'sh';
  // Whether a repair replaced a thing on a node is for the node's own dead-man to tell.
  return {
    step: {
      ...step,
      plan: { ...step.plan, undo, supersedable: step.plan.supersedable && verifies },
    },
    verifies,
  };
}

async function takeBackRun(
  dir: string,
  by: string,
  open: (state: LedgerState) => Executor,
): Promise<boolean> {
  const state = readLedger(dir);
  if (state.run === null || state.closed) return true;
  const executor = open(state);
  const ledger = openLedger(dir);
  try {
    let all = true;
    for (const step of state.steps.toReversed()) {
      const part = hostPart(step);
      if (part !== null) all = (await takeBackPart(part, state, executor, ledger, by)) && all;
    }
    const { targets, run } = state.run;
    if (all)
      for (const part of partsChanged(state.steps.map(({ plan }) => plan)))
        await removeNote(executor, targets, part, run);
    return all;
  } finally {
    ledger.close();
    executor.close();
  }
}

async function takeBackPart(
  part: { step: StepRecord; verifies: boolean },
  state: LedgerState,
  executor: Executor,
  ledger: Ledger,
  by: string,
): Promise<boolean> {
  const context: StepContext = { executor, by, append: (line) => ledger.append(line) };
  try {
    const done = await revert(part.step, context);
    if (!part.verifies || isFinal(done.state)) return true;
    return (await verify({ ...part.step, state: done.state }, context, 2000)).state === 'verified';
  } catch (error) {
    log(`step ${part.step.step}: ${messageOf(error)}`);
    if (isToxiproxySilent(error) && state.run !== null)
      log(await reviveToxiproxy(executor, state.run.targets).catch(messageOf));
    return false;
  }
}

export async function fire(stateDir: string, engine: string, run: string): Promise<boolean> {
  log(`${run}: the lease is over`);
  try {
    const all = await takeBackRun(ledgerDir(stateDir, engine, run), 'watchdog', ({ run: line }) =>
      createExecutor(line!.targets),
    );
    log(`${run}: ${all ? 'all that is mine is back' : 'not yet back, will try again'}`);
    return all;
  } catch (error) {
    // A ledger that is gone belongs to a run that ended.
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return true;
    log(`${run}: ${messageOf(error)}`);
    return false;
  }
}

export function log(text: string): void {
  process.stderr.write(`${new Date().toISOString()} ${text}\n`);
}

/** The drivers as well, so that nothing has to be read from disk when it matters. */
export async function warmUp(): Promise<void> {
  await Promise.all([
    import('../drivers/docker.ts'),
    import('../drivers/toxiproxy.ts'),
    import('./run-http.ts'),
  ]);
}
