/**
 * Holds what is broken on a lease: the dead-man of each node and the watchdog of the stack put it
 * back as soon as the runner no longer renews.
 */
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Action } from '../records/action.ts';
import type { FaultPlan } from '../records/fault.ts';
import type { NewLine, Targets } from '../records/ledger.ts';
import type { Profile } from '../records/profile.ts';
import { arm, disarm, entrust, nodesOf, nodesTouched, renewOn } from './deadman.ts';
import type { EngineOptions } from './engine-types.ts';
import type { Executor } from './execute.ts';
import { type LeaseWriter, openLease } from './lease.ts';
import type { StepRecord } from './ledger.ts';
import { leaveNote, partsChanged, removeNote } from './part-notes.ts';
import { armedDir } from './paths.ts';
import { ensureWatchdog } from './watchdog-start.ts';

/** What it takes to arm, renew and disarm one run. */
export interface Held {
  readonly options: EngineOptions;
  readonly targets: Targets;
  readonly engine: string;
  readonly stateDir: string;
  readonly leaseSeconds: number;
  readonly executor: Executor;
  readonly templates: FaultPlan[];
  lease: LeaseWriter | null;
  timer: NodeJS.Timeout | null;
  /** The renewal under way; one at a time, and none left over at the end. */
  renewal: Promise<void> | null;
  armed: boolean;
  /** Parts that may have a note of this run. */
  noted: readonly string[];
}

/** Longer where everything is slower; a policy of the profile may say otherwise. */
export const leaseOf = ({ policies }: Profile, usual = 10): number =>
  policies['undo.lease_seconds'] ?? usual;

/** What a node cannot put back itself: containers, files in them, and links. */
export const isHeldByWatchdog = (action: Action): boolean => action.kind !== 'sh';

export async function armAll(held: Held): Promise<void> {
  const { executor, leaseSeconds, templates, options, stateDir, engine, targets } = held;
  const run = options.runId;
  const arming = nodesTouched(held.templates).map((node) => arm(executor, node, run, leaseSeconds));
  if (templates.some((plan) => plan.undo.some(isHeldByWatchdog))) {
    held.lease = openLease(join(armedDir(stateDir, engine, targets.stack), run));
    held.lease.renew(leaseSeconds);
    arming.push(ensureWatchdog({ stateDir, engine, stack: targets.stack }).then(() => {}));
  }
  held.armed = true;
  const results = await Promise.allSettled(arming);
  const failed = results.find((result) => result.status === 'rejected');
  if (failed !== undefined) throw failed.reason;
  held.timer = setInterval(() => void renew(held).catch(() => {}), (leaseSeconds * 1000) / 4);
  held.timer.unref();
}

/** A renewal that fails is not an error here: the dead-man will act, and `isActive` will say so. */
export async function renew(held: Held): Promise<void> {
  if (!held.armed) return;
  held.renewal ??= renewAll(held).finally(() => {
    held.renewal = null;
  });
  return held.renewal;
}

async function renewAll(held: Held): Promise<void> {
  const { lease, leaseSeconds, executor, options } = held;
  lease?.renew(leaseSeconds);
  await Promise.allSettled(
    nodesTouched(held.templates).map((node) =>
      renewOn(executor, node, options.runId, leaseSeconds),
    ),
  );
}

/** Each dead-man takes the undos of its own node. */
export async function entrustAll(held: Held, steps: readonly StepRecord[]): Promise<void> {
  const { executor, options } = held;
  await Promise.all(nodesOf(steps).map((node) => entrust(executor, node, options.runId, steps)));
}

/** Each part that is changed keeps its undo itself, for somebody who has no ledger. */
export async function leaveNotes(held: Held, lines: readonly NewLine[]): Promise<void> {
  const { executor, targets, options } = held;
  held.noted = partsChanged(held.templates);
  await Promise.all(
    held.noted.map((part) => leaveNote(executor, targets, part, options.runId, lines)),
  );
}

export async function stopRenewing(held: Held): Promise<void> {
  if (held.timer !== null) clearInterval(held.timer);
  await held.renewal;
}

/** Takes away every dead-man and note, and the lease by which the watchdog knows the run. */
export async function disarmAll(held: Held): Promise<void> {
  const { executor, templates, options, stateDir, engine, targets } = held;
  const run = options.runId;
  await Promise.all([
    ...nodesTouched(templates).map((node) => disarm(executor, node, run)),
    ...held.noted.map((part) => removeNote(executor, targets, part, run)),
  ]);
  held.armed = false;
  rmSync(join(armedDir(stateDir, engine, targets.stack), run), { force: true });
}
