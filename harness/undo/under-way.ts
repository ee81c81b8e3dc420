import { isAlive, type Owner } from '../base/owner.ts';
import { openRuns } from './known.ts';
import { lockHolders } from './lock.ts';
import { runners } from './runners.ts';

/** A living process at work on a stack, by its lock, its open ledgers and its registration. */
export interface UnderWay {
  readonly stack: string;
  readonly owner: Owner;
  /** Null between two scenarios of a series. */
  readonly run: string | null;
  /** Null until the run has a ledger; nothing is broken before that. */
  readonly leaseSeconds: number | null;
  readonly deadman: boolean | null;
}

export function underWay(stateDir: string, engine: string): UnderWay[] {
  const all = new Map<string, UnderWay>();
  const add = (stack: string, owner: Owner, more: Partial<UnderWay>): void => {
    const key = `${stack} ${owner.pid}`;
    const known = all.get(key) ?? { stack, owner, run: null, leaseSeconds: null, deadman: null };
    all.set(key, { ...known, ...more });
  };
  for (const { stack, owner } of runners(stateDir, engine)) add(stack, owner, {});
  for (const { run, line } of openRuns(stateDir, engine))
    if (isAlive(line.owner))
      add(line.stack, line.owner, {
        run,
        leaseSeconds: line.lease_seconds,
        deadman: line.deadman,
      });
  // Last: an older run of the same process may have left its ledger open.
  for (const { stack, owner, run } of lockHolders(stateDir, engine)) add(stack, owner, { run });
  return [...all.values()].sort((a, b) => (a.stack < b.stack ? -1 : a.stack > b.stack ? 1 : 0));
}
