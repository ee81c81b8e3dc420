import { spawnSync } from 'node:child_process';
import { rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { writeResults } from '../../reports/allure.ts';
import { junit } from '../../reports/junit.ts';
import {
  type FolderRead,
  isRunFolder,
  latest,
  outDir,
  readFolder,
  readFolders,
} from '../../reports/records.ts';
import { rowOfFolder, summaryEvent, table } from '../../reports/summary.ts';
import { timeline, timelineIn } from '../../reports/timeline.ts';
import { exitCodes } from '../records/exit-codes.ts';
import { readArguments, refuse, WrongUsage } from './arguments.ts';
import { pruneFolders, pruneMistakes } from './report-prune.ts';
import { rejudgeFolders, rejudgeMistakes } from './report-rejudge.ts';

export const summary = 'show what runs came to';
export const help = `Usage: hopdrill report [FOLDER ...] [--last N] [--since ISO] [--junit FILE] [--allure DIR] [--json]
       hopdrill report --rejudge FOLDER ... [--json]
       hopdrill report --prune [--keep N] [--older AGE] [--dry-run] [--json]

Without a folder the latest run. Reads run folders, also those of killed runs, and computes no verdict.
--allure writes DIR/results from them and makes one file of it, DIR/report/index.html.

  --last N       the latest N runs
  --since ISO    runs that began then or later, e.g. 2026-05-25T22:00:00Z
  --junit FILE   write them as JUnit too
  --allure DIR   Allure's results and one-file report
  --json         the summary as one JSON document on stdout

--rejudge judges stored runs again, from their folders alone, and compares verdict and reasons. A
FOLDER is one of a run, or holds several of them.

--prune removes old run folders instead. A run that is under way stays, and so does a folder that
somebody sealed (it has a manifest.json) and whatever is no run folder.

  --keep N       the latest N stay; 0 lets all go
  --older AGE    only what began longer ago, e.g. 90s, 30m, 12h, 30d; with --keep both must let it go
  --dry-run      say what would go, remove nothing

Examples:
  hopdrill report
  hopdrill report --last 20 --junit junit.xml
  hopdrill report reports/out/2026-05-25T22-00-00-000-NAME
  hopdrill report --rejudge reports/out
  hopdrill report --prune --keep 50 --older 30d --dry-run

Exit codes: 0 shown, removed, or judged the same; 1 judged differently; 2 a stored run cannot be
read; 64 wrong usage; 70 internal error (also: no Allure report could be made, or something could
not be removed; the rest is).
`;

const options = {
  last: { type: 'string' },
  since: { type: 'string' },
  junit: { type: 'string' },
  allure: { type: 'string' },
  rejudge: { type: 'boolean', default: false },
  prune: { type: 'boolean', default: false },
  keep: { type: 'string' },
  older: { type: 'string' },
  'dry-run': { type: 'boolean', default: false },
  json: { type: 'boolean', default: false },
} as const;

function read(argv: readonly string[]) {
  const { values, positionals } = readArguments('report', argv, options);
  refuse('report', [
    ...rejudgeMistakes(values, positionals),
    ...(values.rejudge ? [] : pruneMistakes(values, positionals)),
  ]);
  if (values.rejudge) return { values, positionals };
  const wrong = (what: string): WrongUsage =>
    new WrongUsage(`report: ${what} ("hopdrill report --help")`);
  if (values.last !== undefined && !/^[1-9]\d{0,5}$/.test(values.last))
    throw wrong(`--last ${values.last}: a whole number from 1`);
  if (values.since !== undefined && Number.isNaN(Date.parse(values.since)))
    throw wrong(`--since ${values.since}: a time like 2026-05-25T22:00:00Z`);
  const strange = positionals.find((dir) => !isRunFolder(dir));
  if (strange !== undefined) throw wrong(`${strange} is no run folder (they lie in ${outDir})`);
  return { values, positionals };
}

export function run(argv: readonly string[]): Promise<number> {
  const { values, positionals } = read(argv);
  if (values.rejudge) return rejudgeFolders(positionals, values.json);
  if (values.prune) return pruneFolders(values);
  const folders = choose(positionals, values);
  if (folders.length === 0)
    throw new WrongUsage(`report: no run of that kind in ${outDir} ("hopdrill run" makes one)`);
  const rows = folders.map(rowOfFolder);
  if (values.junit !== undefined) writeFileSync(values.junit, junit(rows));
  const made = values.allure === undefined || allureOf(resolve(values.allure), folders);
  if (values.json) process.stdout.write(`${JSON.stringify(summaryEvent(rows))}\n`);
  else {
    process.stdout.write(`${table(rows)}\n`);
    const [only] = folders;
    if (folders.length === 1 && only?.record != null)
      process.stdout.write(`\n${timeline(only.record, timelineIn(only.dir))}\n${only.dir}\n`);
  }
  if (!made) process.stderr.write('report: no Allure report could be made\n');
  return Promise.resolve(made ? 0 : exitCodes.internal);
}

/** What an earlier call left in the folder is no part of this report. */
function allureOf(dir: string, folders: readonly FolderRead[]): boolean {
  const results = join(dir, 'results');
  const report = join(dir, 'report');
  rmSync(results, { recursive: true, force: true });
  writeResults(results, folders);
  const allure = resolve(import.meta.dirname, '../../node_modules/.bin/allure');
  const { status } = spawnSync(allure, ['awesome', results, '--output', report, '--single-file'], {
    stdio: 'ignore',
  });
  process.stderr.write(`report: ${join(report, 'index.html')}\n`);
  return status === 0;
}

function choose(
  positionals: readonly string[],
  values: { last?: string | undefined; since?: string | undefined },
) {
  if (positionals.length > 0) return positionals.map((dir) => readFolder(resolve(dir)));
  if (values.since !== undefined) return readFolders(outDir, new Date(values.since));
  if (values.last !== undefined) return readFolders().slice(-Number(values.last));
  const dir = latest();
  return dir === undefined ? [] : [readFolder(dir)];
}
