// A file that says which process holds something. One whose process is gone, or that nobody can
// read, is taken over.
import { linkSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { asOwner, isAlive, type Owner } from './owner.ts';

/** What such a file holds, and who of it is the owner. */
export interface LockKind<T> {
  /** Throws on anything else. */
  readonly parse: (value: unknown) => T;
  readonly ownerOf: (holder: T) => Owner;
}

/** A lock that tells its process and nothing else. */
export const processLock: LockKind<Owner> = { parse: asOwner, ownerOf: (holder) => holder };

export type Taken<T> =
  | { readonly heldBy: T }
  | {
      readonly heldBy: null;
      /** The holder whose stale lock was taken over. */
      readonly tookOver: T | null;
      readonly release: () => void;
    };

const attempts = 5;

export function takeLock<T>(kind: LockKind<T>, file: string, mine: T): Taken<T> {
  const text = `${JSON.stringify(mine)}\n`;
  // Linked into place, so that nobody ever reads half a lock.
  const draft = `${file}.${process.pid}.draft`;
  writeFileSync(draft, text, { mode: 0o600 });
  let tookOver: T | null = null;
  try {
    for (let attempt = 0; attempt < attempts; attempt += 1) {
      if (link(draft, file)) return { heldBy: null, tookOver, release: () => release(file, text) };
      const there = read(kind, file);
      if (there === null) continue;
      if (there.holder !== null && isAlive(kind.ownerOf(there.holder)))
        return { heldBy: there.holder };
      if (setAside(file, there.text)) tookOver = there.holder;
    }
  } finally {
    rmSync(draft, { force: true });
  }
  throw new Error(`cannot take the lock ${file}: others take it at the same time`);
}

/** Null when nobody holds it any more. */
export function readHolder<T>(kind: LockKind<T>, file: string): T | null {
  const holder = read(kind, file)?.holder ?? null;
  return holder !== null && isAlive(kind.ownerOf(holder)) ? holder : null;
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

function read<T>({ parse }: LockKind<T>, file: string): { text: string; holder: T | null } | null {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch {
    return null;
  }
  try {
    return { text, holder: parse(JSON.parse(text)) };
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
  try {
    if (readFileSync(file, 'utf8') === text) rmSync(file, { force: true });
  } catch {
    // Nobody holds it any more.
  }
}
