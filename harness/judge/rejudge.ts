import { createHash } from 'node:crypto';
import { closeSync, openSync, readSync, statSync } from 'node:fs';
import { resolve } from 'node:path';
import type { Attachment } from '../records/run-record.ts';
import { readStoredRun } from '../records/stored-run.ts';
import { judge } from './judge.ts';

/**
 * Judges a stored run again, from its folder alone: no scenario file, no catalogue, no system. Says
 * whether verdict and reasons are the same to the byte.
 */
export interface Rejudged {
  readonly dir: string;
  readonly outcome: 'same' | 'different' | 'unreadable';
  readonly verdict: string | null;
  /** What differs, or why the folder cannot be read. */
  readonly details: readonly string[];
}

export function rejudge(dir: string): Rejudged {
  const unreadable = (...details: string[]): Rejudged => ({
    ...{ dir, outcome: 'unreadable', verdict: null },
    details,
  });
  const stored = readStoredRun(dir);
  if (stored.record === null) return unreadable(stored.problem);
  const read = stored.record;
  const changed = read.attachments.flatMap((file) => attachmentProblem(dir, file));
  if (changed.length > 0) return unreadable(...changed);
  const { verdict, reasons, leftovers } = judge(read);
  const now = { verdict, reasons, leftovers };
  const then = { verdict: read.verdict, reasons: read.reasons, leftovers: read.leftovers };
  const details = (['verdict', 'reasons', 'leftovers'] as const).flatMap((field) => {
    const [was, is] = [JSON.stringify(then[field]), JSON.stringify(now[field])];
    return was === is ? [] : [`${field}: stored ${was}, judged now ${is}`];
  });
  return { dir, outcome: details.length === 0 ? 'same' : 'different', verdict, details };
}

function attachmentProblem(dir: string, { path, bytes, sha256 }: Attachment): string[] {
  const file = resolve(dir, path);
  if (!file.startsWith(`${resolve(dir)}/`)) return [`${path}: lies outside of the run folder`];
  try {
    const { size } = statSync(file);
    if (size !== bytes) return [`${path}: ${size} bytes instead of ${bytes}`];
    return digestOf(file) === sha256 ? [] : [`${path}: its digest is another one`];
  } catch {
    return [`${path}: missing`];
  }
}

/** In pieces, since a log may be large. */
function digestOf(file: string): string {
  const hash = createHash('sha256');
  const piece = Buffer.alloc(1024 * 1024);
  const handle = openSync(file, 'r');
  try {
    for (let read = readSync(handle, piece); read > 0; read = readSync(handle, piece))
      hash.update(piece.subarray(0, read));
  } finally {
    closeSync(handle);
  }
  return hash.digest('hex');
}
