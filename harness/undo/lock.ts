/**
 * One scenario at a time per stack. The lock names its owner; one whose owner is gone is taken
 * over, and that is said.
 */
import { linkSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { owner } from '../records/ledger.ts';
import { isAlive, self } from './owner.ts';
import { locksDir } from './paths.ts';

const lockFile = z.object({ owner, run: z.string(), stack: z.string(), since: z.string() });
export type LockHolder = z.infer<typeof lockFile>;

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
  options: { stateDir: string; engine: string; run: string },
): Lock {
  const file = join(locksDir(options.stateDir, options.engine), `${stack}.lock`);
  const mine: LockHolder = {
    owner: self(),
    run: options.run,
    stack,
    since: new Date().toISOString(),
  };
  const text = `${JSON.stringify(mine)}\n`;
  // Linked into place, so that nobody ever reads half a lock.
  const draft = `${file}.${process.pid}.${options.run}`;
  writeFileSync(draft, text, { mode: 0o600 });
  let tookOver: LockHolder | null = null;
  try {
    for (let attempt = 0; attempt < 5; attempt += 1) {
      if (link(draft, file)) return { tookOver, release: () => release(file, text) };
      const there = read(file);
      if (there === null) continue;
      if (there.holder !== null && isAlive(there.holder.owner)) throw new LockedError(there.holder);
      if (setAside(file, there.text)) tookOver = there.holder;
    }
  } finally {
    rmSync(draft, { force: true });
  }
  throw new Error(`cannot take the lock ${file}: others take it at the same time`);
}

/** Who holds the stacks of an engine; a lock whose owner is gone holds nothing. */
export function lockHolders(stateDir: string, engine: string): LockHolder[] {
  const dir = locksDir(stateDir, engine);
  return readdirSync(dir)
    .filter((name) => name.endsWith('.lock'))
    .flatMap((name) => read(join(dir, name))?.holder ?? [])
    .filter((holder) => isAlive(holder.owner));
}

function link(from: string, to: string): boolean {
  try {
    linkSync(from, to);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  }
}

function read(file: string): { text: string; holder: LockHolder | null } | null {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch {
    return null;
  }
  try {
    return { text, holder: lockFile.parse(JSON.parse(text)) };
  } catch {
    return { text, holder: null };
  }
}

/**
 * Two may see the same stale lock: the slower one finds that it moved a fresh one away, and puts it
 * back.
 */
function setAside(file: string, stale: string): boolean {
  const aside = `${file}.stale.${process.pid}`;
  try {
    renameSync(file, aside);
  } catch {
    return false;
  }
  const moved = readFileSync(aside, 'utf8');
  if (moved !== stale) link(aside, file);
  rmSync(aside, { force: true });
  return moved === stale;
}

function release(file: string, text: string): void {
  if (read(file)?.text === text) rmSync(file, { force: true });
}
