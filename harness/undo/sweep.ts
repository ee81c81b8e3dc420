/**
 * Takes back what crashed runs left: first from their ledgers, then by the marks on the targets.
 * `hopdrill undo` and the start of every run call it. A run whose process is alive is left alone.
 */
import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { engineId } from '../drivers/engine-id.ts';
import { messageOf } from '../drivers/errors.ts';
import type { Profile } from '../records/profile.ts';
import { disarm, nodeNotes, renewOn } from './deadman.ts';
import { createExecutor, type Executor } from './execute.ts';
import { openRuns } from './known.ts';
import { openLease } from './lease.ts';
import { isFinal, type Ledger, type LedgerState, openLedger, type StepRecord } from './ledger.ts';
import { isAlive, self } from './owner.ts';
import { armedDir, defaultStateDir, targetsOf } from './paths.ts';
import { isToxiproxySilent, reviveToxiproxy } from './revive.ts';
import { takeBack, verify } from './step.ts';
import { type Leftover, sweepNode, sweepToxics } from './tags.ts';

export interface SweepOptions {
  readonly stateDir?: string;
  /** Only this stack; all when left out. */
  readonly stack?: string;
  /** Only this run. */
  readonly run?: string;
  readonly dryRun?: boolean;
  /** Deployments whose targets are searched for marks as well. */
  readonly profiles?: readonly Profile[];
}

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
}

export interface SweepReport {
  readonly runs: readonly SweptRun[];
  readonly leftovers: readonly Leftover[];
  /** One line each, for people. */
  readonly lines: readonly string[];
  /** What could not be shown to be back. */
  readonly unproven: readonly string[];
  /**
   * Targets that did not answer: nobody knows what is on them. Clean means that this is empty as
   * well.
   */
  readonly unsearched: readonly string[];
}

export async function sweep(options: SweepOptions = {}): Promise<SweepReport> {
  const stateDir = options.stateDir ?? defaultStateDir();
  const engine = await engineId();
  const runs: SweptRun[] = [];
  const alive = new Set<string>();
  for (const { run, dir, line, state } of openRuns(stateDir, engine)) {
    if (options.run !== undefined && run !== options.run) continue;
    if (options.stack !== undefined && line.stack !== options.stack) continue;
    const mine = line.owner.pid === self().pid && line.owner.boot_id === self().boot_id;
    if (mine || isAlive(line.owner)) {
      alive.add(run);
      runs.push({ run, stack: line.stack, state: 'in_progress', steps: [] });
    } else
      runs.push(
        options.dryRun === true
          ? described(run, state)
          : await sweepRun({ stateDir, engine, run, dir, state }),
      );
  }
  const leftovers = await sweepMarks(options, stateDir, alive);
  return report(runs, leftovers);
}

function described(run: string, state: LedgerState): SweptRun {
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

interface Found {
  readonly stateDir: string;
  readonly engine: string;
  readonly run: string;
  readonly dir: string;
  readonly state: LedgerState;
}

async function sweepRun(found: Found): Promise<SweptRun> {
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

async function sweepMarks(
  options: SweepOptions,
  stateDir: string,
  alive: ReadonlySet<string>,
): Promise<Leftover[]> {
  const found: Leftover[] = [];
  for (const profile of options.run === undefined ? (options.profiles ?? []) : []) {
    if (options.stack !== undefined && profile.stack !== options.stack) continue;
    const targets = targetsOf(profile, { stateDir });
    const executor = createExecutor(targets);
    const how = { dryRun: options.dryRun ?? false, inUse: (run: string) => alive.has(run) };
    const ask = (where: string, work: Promise<Leftover[]>): Promise<Leftover[]> =>
      work.catch((error: unknown): Leftover[] => [
        { where, what: 'search', run: '?', state: 'unsearched', detail: messageOf(error) },
      ]);
    const asked = Object.keys(targets.nodes).map((node) =>
      ask(`node:${node}`, sweepNode(executor, node, how)),
    );
    found.push(...(await Promise.all([...asked, ask('links', sweepToxics(targets, how))])).flat());
    executor.close();
  }
  return found;
}

function report(runs: readonly SweptRun[], leftovers: readonly Leftover[]): SweepReport {
  const lines: string[] = [];
  const unproven: string[] = [];
  for (const run of runs) {
    if (run.state === 'in_progress')
      lines.push(`run ${run.run} on ${run.stack} goes on; left alone`);
    else if (run.steps.length === 0)
      lines.push(`run ${run.run} on ${run.stack} had broken nothing; its traces are removed`);
    for (const step of run.steps) {
      const line = `${run.run}: ${step.fault} on ${step.target}: ${step.was} -> ${step.state} (${step.detail})`;
      lines.push(line);
      if (run.state === 'unproven' && step.state !== 'verified' && step.state !== 'superseded')
        unproven.push(line);
    }
  }
  const unsearched = leftovers
    .filter((left) => left.state === 'unsearched')
    .map((left) => `${left.where}: could not be searched for what runs left (${left.detail})`);
  lines.push(...unsearched);
  for (const left of leftovers) {
    if (left.state === 'unsearched') continue;
    const line = `${left.where}: ${left.what} of run ${left.run}: ${left.state.replace('_', ' ')} (${left.detail})`;
    lines.push(line);
    if (left.state === 'failed') unproven.push(line);
  }
  return { runs, leftovers, lines, unproven, unsearched };
}
