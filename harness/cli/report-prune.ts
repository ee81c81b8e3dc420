// `report --prune`: what may stand beside it, and the call.
import { parseDuration } from '../records/duration.ts';
import { exitCodes } from '../records/exit-codes.ts';

/** What `report` read from its command line. */
interface Values {
  readonly prune: boolean;
  readonly keep?: string | undefined;
  readonly older?: string | undefined;
  readonly 'dry-run': boolean;
  readonly json: boolean;
  readonly last?: string | undefined;
  readonly since?: string | undefined;
  readonly junit?: string | undefined;
  readonly allure?: string | undefined;
}

const ageUnits = ['s', 'm', 'h', 'd'] as const;

export function pruneMistakes(values: Values, folders: readonly string[]): string[] {
  const { prune: pruning, keep, older, 'dry-run': dryRun } = values;
  const limits = { '--keep': keep, '--older': older, '--dry-run': dryRun ? '' : undefined };
  const others = { '--last': values.last, '--since': values.since, '--junit': values.junit };
  const given = (words: Record<string, string | undefined>): string[] =>
    Object.entries(words).flatMap(([name, value]) =>
      value === undefined ? [] : [`${name} ${value}`.trim()],
    );
  if (!pruning) return given(limits).map((word) => `found: ${word} without --prune`);
  const beside = [...given({ ...others, '--allure': values.allure }), ...folders];
  const allowed = '--keep, --older, --dry-run, --json';
  return [
    ...beside.map((word) => `found: ${word} beside --prune | allowed: ${allowed}`),
    ...(keep === undefined && older === undefined
      ? ['found: --prune alone | allowed: with --keep N, with --older AGE, or with both']
      : []),
    ...(keep !== undefined && !/^\d{1,6}$/.test(keep)
      ? [`found: --keep ${keep} | allowed: a whole number from 0`]
      : []),
    ...(older !== undefined && parseDuration(older, ageUnits) === null
      ? [`found: --older ${older} | allowed: a number and its unit, as in 90s, 30m, 12h, 30d`]
      : []),
  ];
}

export async function pruneFolders({
  keep,
  older,
  'dry-run': dryRun,
  json,
}: Values): Promise<number> {
  const [{ prune, pruneLines }, { engineId }, { defaultStateDir }, { underWay }] =
    await Promise.all([
      import('../../reports/prune.ts'),
      import('../drivers/engine-id.ts'),
      import('../undo/paths.ts'),
      import('../undo/under-way.ts'),
    ]);
  const runs = underWay(defaultStateDir(), await engineId());
  const document = prune({
    keep: keep === undefined ? undefined : Number(keep),
    olderThanMs: older === undefined ? undefined : (parseDuration(older, ageUnits) ?? undefined),
    dryRun,
    runsUnderWay: runs.flatMap(({ run: name }) => name ?? []),
  });
  const text = json ? JSON.stringify(document, null, 2) : pruneLines(document).join('\n');
  process.stdout.write(`${text}\n`);
  return document.ok ? exitCodes.pass : exitCodes.internal;
}
