import { existsSync, readdirSync, readFileSync, realpathSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { RunRecord } from '../harness/records/run-record.ts';
import { readStoredRun } from '../harness/records/stored-run.ts';
import type { Verdict } from '../harness/records/verdict.ts';

/** Reads run folders back. A folder without a verdict is a run that was killed; it still counts. */
export interface FolderRead {
  readonly dir: string;
  readonly record: RunRecord | null;
  /** What is known of a run that never came to its verdict. */
  readonly last: string | null;
  /** Why the record that is there cannot be read. */
  readonly problem: string | null;
  /** What a record of another version says of itself. */
  readonly verdict: Verdict | null;
  readonly scenario: string;
  /** Null when not even the plan was written. */
  readonly stack: string | null;
}

export const outDir = resolve(import.meta.dirname, 'out');

export function readFolder(dir: string): FolderRead {
  const { scenario, stack } = planned(dir);
  const about = { dir, scenario, stack };
  const stored = readStoredRun(dir);
  if (stored.record !== null) {
    const { record } = stored;
    return { ...about, record, last: null, problem: null, verdict: record.verdict };
  }
  const { missing, problem, verdict } = stored;
  return {
    ...about,
    record: null,
    last: lastStage(dir),
    problem: missing ? null : problem,
    verdict,
  };
}

/** A folder that has one of these is one of a run, however far that came. */
export const runFiles: readonly string[] = ['plan.json', 'events.jsonl', 'verdict.json'];

export const isRunFolder = (dir: string): boolean =>
  runFiles.some((file) => existsSync(join(dir, file)));

/** When the run of a folder began, by its name; NaN of a name that holds no such time. */
export function startedAt(dir: string): number {
  const name = dir.split('/').at(-1) ?? '';
  const [, date, hour, minute, second, ms] =
    /^(\d{4}-\d\d-\d\d)T(\d\d)-(\d\d)-(\d\d)-(\d{3})/.exec(name) ?? [];
  return Date.parse(`${date}T${hour}:${minute}:${second}.${ms}Z`);
}

/** Folders below `out`, oldest first; `since` cuts to those that began then or later. */
export function readFolders(out = outDir, since?: Date): FolderRead[] {
  if (!existsSync(out)) return [];
  const names = readdirSync(out, { withFileTypes: true }).flatMap((entry) =>
    entry.isDirectory() && /^\d{4}-\d\d-\d\dT/.test(entry.name) ? [entry.name] : [],
  );
  const from = since?.toISOString().replace(/[:.]/g, '-') ?? '';
  return names
    .filter((name) => name >= from.replace(/Z$/, ''))
    .sort()
    .map((name) => readFolder(join(out, name)));
}

export function latest(out = outDir): string | undefined {
  const link = join(out, 'latest');
  return existsSync(link) ? realpathSync(link) : undefined;
}

function planned(dir: string): { scenario: string; stack: string | null } {
  try {
    const { scenario, stack } = JSON.parse(readFileSync(join(dir, 'plan.json'), 'utf8')) as {
      scenario: string;
      stack: string;
    };
    return { scenario, stack };
  } catch {
    return {
      scenario:
        dir
          .split('/')
          .at(-1)
          ?.replace(/^[^a-z]*-(?=[a-z])/, '') ?? dir,
      stack: null,
    };
  }
}

/** A torn last line is what a kill leaves; it is skipped. */
function lastStage(dir: string): string | null {
  const file = join(dir, 'events.jsonl');
  if (!existsSync(file)) return null;
  for (const line of readFileSync(file, 'utf8').trim().split('\n').reverse()) {
    try {
      const event = JSON.parse(line) as { event: string; stage?: string; status?: string };
      if (event.event === 'stage') return `${event.stage} (${event.status})`;
    } catch {
      // The runner died while it wrote this line.
    }
  }
  return null;
}
