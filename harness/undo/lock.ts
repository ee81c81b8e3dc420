// One scenario at a time per stack. That a stale lock was taken over is said.
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { type LockKind, readHolder, takeLock } from '../base/lock.ts';
import { self } from '../base/owner.ts';
import { owner } from '../records/ledger.ts';
import { locksDir } from './paths.ts';

const lockHolder = z.object({ owner, run: z.string(), stack: z.string(), since: z.string() });
export type LockHolder = z.infer<typeof lockHolder>;
const kind: LockKind<LockHolder> = {
  parse: (value) => lockHolder.parse(value),
  ownerOf: (holder) => holder.owner,
};

export class LockedError extends Error {
  readonly code = 'locked';
  readonly holder: LockHolder;
  constructor(holder: LockHolder) {
    super(
      `stack ${holder.stack} is held by run ${holder.run} (pid ${holder.owner.pid}, since ${holder.since})`,
    );
    this.name = 'LockedError';
    this.holder = holder;
  }
}

export interface Lock {
  /** The holder whose stale lock was taken over. */
  readonly tookOver: LockHolder | null;
  release(): void;
}

export function lock(
  stack: string,
  { stateDir, engine, run }: { stateDir: string; engine: string; run: string },
): Lock {
  const file = join(locksDir(stateDir, engine), `${stack}.lock`);
  const mine = { owner: self(), run, stack, since: new Date().toISOString() };
  const taken = takeLock(kind, file, mine);
  if (taken.heldBy !== null) throw new LockedError(taken.heldBy);
  return taken;
}

/** Who holds the stacks of an engine. */
export function lockHolders(stateDir: string, engine: string): LockHolder[] {
  const dir = locksDir(stateDir, engine);
  return readdirSync(dir)
    .filter((name) => name.endsWith('.lock'))
    .flatMap((name) => readHolder(kind, join(dir, name)) ?? []);
}
