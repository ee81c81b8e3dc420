/** Takes back what one killed run left, step by step from its ledger, and closes the ledger. */
import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { messageOf } from '../base/message-of.ts';
import { disarm, nodeNotes, renewOn } from './deadman.ts';
import { createExecutor, type Executor } from './execute.ts';
import { openLease } from './lease.ts';
import {
  isFinal,
  type Ledger,
  type LedgerState,
  ledgerFile,
  openLedger,
  type StepRecord,
} from './ledger.ts';
import { partsChanged, removeNote } from './part-notes.ts';
import { armedDir } from './paths.ts';
import { isToxiproxySilent, reviveToxiproxy } from './revive.ts';
import { takeBack, verify } from './step.ts';

export interface SweptStep {
  readonly step: number;
  readonly fault: string;
  readonly target: string;
  readonly was: string;
  readonly state: string;
  readonly detail: string;
}

export interface SweptRun {
  readonly run: string;
  readonly stack: string;
  readonly state: 'in_progress' | 'taken_back' | 'unproven' | 'found';
  readonly steps: readonly SweptStep[];
  /** Why the ledger does not say everything that was done. */
  readonly unreadable?: string;
}

export interface Found {
  readonly stateDir: string;
  readonly engine: string;
  readonly run: string;
  readonly dir: string;
  readonly state: LedgerState;
}

/** Nobody knows what such a run did: it is named with its file and left for a person to look at. */
export function unreadableRun({ run, dir, state }: Found): SweptRun {
  const unreadable = `its ledger ${ledgerFile(dir)} cannot be read (${state.unreadable}); once nothing of the run is left on its targets, remove that file`;
  return { run, stack: state.run?.stack ?? '?', state: 'unproven', steps: [], unreadable };
}

export function described({ run, state }: Found): SweptRun {
  const steps = state.steps.map(({ step, plan, state: was }) => ({
    step,
    fault: plan.fault,
    target: plan.target,
    was,
    state: was,
    detail: isFinal(was) ? 'back' : 'would be taken back',
  }));
  return { run, stack: state.run?.stack ?? '?', state: 'found', steps };
}

export async function sweepRun(found: Found): Promise<SweptRun> {
  const { state, run, dir } = found;
  const line = state.run!;
  const executor = createExecutor(line.targets);
  const ledger = openLedger(dir);
  const steps: SweptStep[] = [];
  try {
    const nodes = nodesTouched(state);
    const armed = join(armedDir(found.stateDir, found.engine, line.stack), run);
    const done = await deadmenAreDone(executor, nodes, run, armed);
    for (const step of state.steps.toReversed())
      steps.push(await sweepStep(step, executor, ledger, state, done));
    if (steps.every((step) => step.state === 'verified' || step.state === 'superseded')) {
      await Promise.all(nodes.map((node) => disarm(executor, node, run)));
      const parts = partsChanged(state.steps.map((step) => step.plan));
      await Promise.all(parts.map((part) => removeNote(executor, line.targets, part, run)));
      rmSync(armed, { force: true });
      ledger.append({ type: 'closed', at: new Date().toISOString(), by: 'undo' });
      return { run, stack: line.stack, state: 'taken_back', steps };
    }
    // Whoever still holds it goes on trying.
    if (existsSync(armed)) openLease(armed).renew(-1);
  } catch (error) {
    steps.push({
      step: -1,
      fault: 'cleaning up',
      target: line.stack,
      was: '',
      state: 'failed',
      detail: messageOf(error),
    });
  } finally {
    ledger.close();
    executor.close();
  }
  return { run, stack: line.stack, state: 'unproven', steps };
}

/**
 * When nobody holds anything any more, there is nothing to do but to look; otherwise they are held
 * back while we work.
 */
async function deadmenAreDone(
  executor: Executor,
  nodes: readonly string[],
  run: string,
  armed: string,
): Promise<boolean> {
  const held = await Promise.all(nodes.map((node) => renewOn(executor, node, run, 60)));
  if (!existsSync(armed)) return !held.includes(true);
  const lease = openLease(armed);
  lease.renew(60);
  lease.close();
  return false;
}

async function sweepStep(
  step: StepRecord,
  executor: Executor,
  ledger: Ledger,
  state: LedgerState,
  done: boolean,
): Promise<SweptStep> {
  const about = {
    step: step.step,
    fault: step.plan.fault,
    target: step.plan.target,
    was: step.state,
  };
  const context = {
    ...nodeNotes(executor, state.run?.run ?? ''),
    executor,
    by: 'undo',
    append: ledger.append.bind(ledger),
  };
  for (let attempt = 0; ; attempt += 1) {
    try {
      const seen = done ? await verify(step, context, 0) : null;
      return {
        ...about,
        ...(seen !== null && isFinal(seen.state) ? seen : await takeBack(step, context)),
      };
    } catch (error) {
      if (attempt < 2 && isToxiproxySilent(error) && state.run !== null)
        await reviveToxiproxy(executor, state.run.targets).catch(() => {});
      else return { ...about, state: 'failed', detail: messageOf(error) };
    }
  }
}

/**
 * Nodes that the run may have put something on. A run killed before its first step has a folder
 * there at most.
 */
function nodesTouched(state: LedgerState): string[] {
  const all = Object.keys(state.run?.targets.nodes ?? {});
  if (state.steps.length === 0) return all;
  const text = JSON.stringify(state.steps.map((step) => step.plan));
  return all.filter((node) => text.includes(`"node":${JSON.stringify(node)}`));
}
