// `report --rejudge`: what may stand beside it, and the call.
import { existsSync, readdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { isRunFolder } from '../../reports/records.ts';
import type { Rejudged } from '../judge/rejudge.ts';
import { exitCodes } from '../records/exit-codes.ts';

export function rejudgeMistakes(
  values: Readonly<Record<string, unknown>>,
  folders: readonly string[],
): string[] {
  if (values.rejudge !== true) return [];
  const others = ['last', 'since', 'junit', 'allure', 'prune', 'keep', 'older', 'dry-run'];
  const beside = others.filter((name) => values[name] !== undefined && values[name] !== false);
  const missing = folders.filter((folder) => runsBelow(folder).length === 0);
  return [
    ...beside.map((name) => `found: --${name} beside --rejudge | allowed: folders, --json`),
    ...(folders.length === 0 ? ['found: --rejudge alone | allowed: with run folders'] : []),
    ...missing.map((folder) => `found: ${folder} | allowed: a run folder, or a folder of them`),
  ];
}

/** A folder of one run, or every run folder right below it. */
function runsBelow(folder: string): string[] {
  if (isRunFolder(folder)) return [resolve(folder)];
  if (!existsSync(folder)) return [];
  return readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && isRunFolder(join(folder, entry.name)))
    .map((entry) => resolve(folder, entry.name))
    .sort();
}

export async function rejudgeFolders(folders: readonly string[], json: boolean): Promise<number> {
  const { rejudge } = await import('../judge/rejudge.ts');
  const runs = folders.flatMap(runsBelow).map(rejudge);
  const count = (outcome: Rejudged['outcome']): number =>
    runs.filter((run) => run.outcome === outcome).length;
  const [different, unreadable] = [count('different'), count('unreadable')];
  if (json)
    process.stdout.write(
      `${JSON.stringify({ ok: different + unreadable === 0, runs }, null, 2)}\n`,
    );
  else {
    for (const { outcome, verdict, dir, details } of runs)
      process.stdout.write(
        `${outcome.padEnd(10)} ${(verdict ?? '-').padEnd(12)} ${dir}\n${details.map((line) => `           ${line}\n`).join('')}`,
      );
    process.stdout.write(
      `${count('same')} judged the same, ${different} differently, ${unreadable} unreadable\n`,
    );
  }
  // What cannot be read may hide anything.
  if (unreadable > 0) return exitCodes.inconclusive;
  return different > 0 ? exitCodes.fail : exitCodes.pass;
}
