/**
 * Takes back what crashed runs left: first from their ledgers, then by the marks on the targets.
 * `hopdrill undo` and the start of every run call it. A run whose process is alive is left alone.
 */
import { rmSync, statSync } from 'node:fs';
import { messageOf } from '../base/message-of.ts';
import { isAlive } from '../base/owner.ts';
import { engineId } from '../drivers/engine-id.ts';
import type { Profile } from '../records/profile.ts';
import { createExecutor } from './execute.ts';
import { openLedgers } from './known.ts';
import { ledgerFile } from './ledger.ts';
import {
  type Leftover,
  type MarkOptions,
  type MarkPlaces,
  sweepNode,
  sweepToxics,
} from './marks.ts';
import { sweepPart } from './part-notes.ts';
import { defaultStateDir } from './paths.ts';
import { described, type Found, type SweptRun, sweepRun, unreadableRun } from './sweep-run.ts';
import { sweepSlots } from './sweep-slots.ts';
import { targetsOf } from './targets.ts';

export interface SweepOptions {
  readonly stateDir?: string;
  /** Only this stack; all when left out. */
  readonly stack?: string;
  /** Only this run. */
  readonly run?: string;
  readonly dryRun?: boolean;
  /** Deployments whose targets are searched for marks as well. */
  readonly profiles?: readonly Profile[];
  /** Where faults leave files of their own on targets. */
  readonly places?: MarkPlaces;
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
  for (const { run, dir, state } of openLedgers(stateDir, engine)) {
    if (options.run !== undefined && run !== options.run) continue;
    // Whose stack an unreadable ledger is about may be unknown; then it concerns everybody.
    const elsewhere =
      options.stack !== undefined && (state.run?.stack ?? options.stack) !== options.stack;
    if (elsewhere) continue;
    const swept = await sweepLedger({ stateDir, engine, run, dir, state }, options.dryRun ?? false);
    if (swept !== null) runs.push(swept);
  }
  const alive = new Set(runs.flatMap(({ run, state }) => (state === 'in_progress' ? [run] : [])));
  const leftovers = await sweepMarks(options, stateDir, alive);
  return report(runs, leftovers);
}

async function sweepLedger(found: Found, dryRun: boolean): Promise<SweptRun | null> {
  const { run, dir, state } = found;
  if (state.run !== null && isAlive(state.run.owner))
    return { run, stack: state.run.stack, state: 'in_progress', steps: [] };
  if (state.unreadable !== null) return unreadableRun(found);
  if (state.run === null) {
    // Killed before its first line was on disk, so it had broken nothing; or just being opened.
    if (!dryRun && Date.now() - statSync(ledgerFile(dir)).mtimeMs > openingMs)
      rmSync(dir, { recursive: true, force: true });
    return null;
  }
  return dryRun ? described(found) : sweepRun(found);
}

/** Far longer than a runner takes from making the file to writing its first line. */
const openingMs = 60_000;

const noPlaces: MarkPlaces = { node: [], part: [] };

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
    const how: MarkOptions = {
      dryRun: options.dryRun ?? false,
      places: options.places ?? noPlaces,
      inUse: (run) => alive.has(run),
    };
    const ask = (where: string, work: Promise<Leftover[]>): Promise<Leftover[]> =>
      work.catch((error: unknown): Leftover[] => [
        { where, what: 'search', run: '?', state: 'unsearched', detail: messageOf(error) },
      ]);
    const searches = [
      ...Object.keys(targets.nodes).map((node) =>
        ask(`node:${node}`, sweepNode(executor, node, how)),
      ),
      ...Object.keys(targets.parts).map((part) =>
        ask(`part:${part}`, sweepPart(executor, targets, part, how)),
      ),
      ask('links', sweepToxics(targets, how)),
      ask('database', sweepSlots(targets, { dryRun: how.dryRun, alive })),
    ];
    found.push(...(await Promise.all(searches)).flat());
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
    else if (run.unreadable !== undefined) {
      lines.push(`${run.run}: ${run.unreadable}`);
      unproven.push(`${run.run}: ${run.unreadable}`);
    } else if (run.steps.length === 0)
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
