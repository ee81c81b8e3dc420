import {
  existsSync,
  lstatSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  rmdirSync,
  rmSync,
  statSync,
  symlinkSync,
} from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { messageOf } from '../harness/base/message-of.ts';
import type { PruneDocument } from '../harness/records/documents.ts';
import { isRunFolder, outDir, readFolders, runFiles, startedAt } from './records.ts';

/**
 * Removes old run folders. What is no run folder stays, and so does a run that is still under way
 * or that somebody has sealed; no link is followed out of the folder.
 */
export interface Pruning {
  readonly out?: string;
  /** How many of the latest stay, whatever their age. */
  readonly keep?: number | undefined;
  /** Only what began longer ago than this goes. */
  readonly olderThanMs?: number | undefined;
  readonly dryRun: boolean;
  /** Runs of which a living process is known. */
  readonly runsUnderWay?: readonly string[];
}

type Folder = PruneDocument['folders'][number];

const anHourMs = 3_600_000;

export function prune(pruning: Pruning): PruneDocument {
  const { out = outDir, dryRun } = pruning;
  const all = readFolders(out).flatMap(({ dir }) => (isRunFolder(dir) ? [dir] : []));
  const folders = expired(all, pruning).map((dir) => removeFolder(dir, pruning));
  const gone = folders.flatMap(({ dir, state }) =>
    state === 'removed' || state === 'would_be_removed' ? [dir] : [],
  );
  const remaining = all.filter((dir) => !gone.includes(dir));
  const failed = folders.some(({ state }) => state === 'failed');
  return {
    ok: !failed,
    dry_run: dryRun,
    folders,
    freed_bytes: folders.reduce((sum, { freed_bytes }) => sum + freed_bytes, 0),
    latest: pointLatestElsewhere(out, gone, remaining.at(-1), dryRun),
  };
}

/** Oldest first; with both limits only what both let go. */
function expired(all: readonly string[], { keep = 0, olderThanMs }: Pruning): string[] {
  const now = Date.now();
  return all
    .slice(0, Math.max(0, all.length - keep))
    .filter((dir) => olderThanMs === undefined || now - startedAt(dir) > olderThanMs);
}

function removeFolder(dir: string, { dryRun, runsUnderWay = [] }: Pruning): Folder {
  const kept = (state: 'sealed' | 'under_way', detail: string): Folder => ({
    dir,
    state,
    freed_bytes: 0,
    detail,
  });
  if (existsSync(join(dir, 'manifest.json'))) return kept('sealed', 'it has a manifest.json');
  const life = signOfLife(dir, runsUnderWay);
  if (life !== null) return kept('under_way', life);
  const before = bytesIn(dir);
  if (dryRun) return { dir, state: 'would_be_removed', freed_bytes: before, detail: '' };
  try {
    removeAll(dir);
    return { dir, state: 'removed', freed_bytes: before, detail: '' };
  } catch (error) {
    const detail = messageOf(error);
    return { dir, state: 'failed', freed_bytes: before - bytesIn(dir), detail };
  }
}

/** What shows that it is a run folder goes last: one that stays half removed is found again. */
function removeAll(dir: string): void {
  const names = readdirSync(dir);
  const isLast = (name: string): boolean => runFiles.includes(name);
  for (const name of [...names.filter((one) => !isLast(one)), ...names.filter(isLast)])
    rmSync(join(dir, name), { recursive: true });
  rmdirSync(dir);
}

/** Why the run may still be going on; null when it has ended or its process was killed. */
function signOfLife(dir: string, runsUnderWay: readonly string[]): string | null {
  if (existsSync(join(dir, 'verdict.json'))) return null;
  const run = runIdIn(dir);
  if (run !== null && runsUnderWay.includes(run)) return 'its process is alive';
  const events = join(dir, 'events.jsonl');
  const { mtimeMs } = statSync(existsSync(events) ? events : dir);
  return Date.now() - mtimeMs < anHourMs ? 'no verdict yet, and written to within the hour' : null;
}

function runIdIn(dir: string): string | null {
  try {
    const [first = ''] = readFileSync(join(dir, 'events.jsonl'), 'utf8').split('\n', 1);
    return (JSON.parse(first) as { run_id?: string }).run_id ?? null;
  } catch {
    return null;
  }
}

/** Links count as what they are themselves. A folder that cannot be read counts as empty. */
function bytesIn(dir: string): number {
  try {
    return readdirSync(dir, { withFileTypes: true }).reduce((sum, entry) => {
      const path = join(dir, entry.name);
      return sum + (entry.isDirectory() ? bytesIn(path) : lstatSync(path).size);
    }, 0);
  } catch {
    return 0;
  }
}

/** Gives where the link `latest` leads from now on; null when it was not ours to touch. */
function pointLatestElsewhere(
  out: string,
  gone: readonly string[],
  newest: string | undefined,
  dryRun: boolean,
): PruneDocument['latest'] {
  const link = join(out, 'latest');
  let target: string;
  try {
    target = resolve(out, readlinkSync(link));
    if (realpathSync(dirname(target)) !== realpathSync(out)) return null;
  } catch {
    // There is none, it is no link, or it leads nowhere.
    return null;
  }
  if (!gone.some((dir) => basename(dir) === basename(target))) return null;
  if (!dryRun) {
    rmSync(link, { force: true });
    if (newest !== undefined) symlinkSync(newest, link);
  }
  return { points_to: newest ?? null };
}

const words: Record<Folder['state'], string> = {
  removed: 'removed',
  would_be_removed: 'would be removed',
  sealed: 'kept, sealed',
  under_way: 'kept, under way',
  failed: 'could not be removed',
};

/** One line for each folder, then what it came to. */
export function pruneLines({ dry_run, folders, freed_bytes, latest }: PruneDocument): string[] {
  const lines = folders.map(({ dir, state, detail }) =>
    [`${words[state]}: ${dir}`, ...(detail === '' ? [] : [`(${detail})`])].join(' '),
  );
  if (latest !== null)
    lines.push(
      latest.points_to === null
        ? `latest: ${dry_run ? 'would be removed' : 'removed'}, no run is left for it`
        : `latest: ${dry_run ? 'would lead' : 'leads now'} to ${latest.points_to}`,
    );
  const count = folders.filter(
    ({ state }) => state === 'removed' || state === 'would_be_removed',
  ).length;
  const size = `${freed_bytes} bytes (${(freed_bytes / 2 ** 20).toFixed(1)} MiB)`;
  const folderWord = count === 1 ? 'run folder' : 'run folders';
  lines.push(`${dry_run ? 'would free' : 'freed'} ${size}: ${count} ${folderWord}`);
  return lines;
}
