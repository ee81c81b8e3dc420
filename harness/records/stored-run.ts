import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { type RunRecord, runRecord } from './run-record.ts';
import { type Verdict, verdicts } from './verdict.ts';

/** The record of a run folder, or why it cannot be read. */
export type StoredRun =
  | { readonly record: RunRecord }
  | {
      readonly record: null;
      readonly problem: string;
      /** Nothing was stored: the run was killed before its verdict. */
      readonly missing: boolean;
      /** What a record of another version says of itself. */
      readonly verdict: Verdict | null;
    };

/** Far more than a record can hold; a larger file is none of ours. */
const largestRecord = 64 * 1024 * 1024;
const currentVersion = runRecord.shape.schema_version.value;

export function readStoredRun(dir: string): StoredRun {
  const file = join(dir, 'verdict.json');
  const unreadable = (why: string, more: { missing?: boolean; verdict?: Verdict | null } = {}) => ({
    ...{ record: null, problem: `verdict.json: ${why}`, missing: more.missing ?? false },
    verdict: more.verdict ?? null,
  });
  let text: string;
  try {
    const { size } = statSync(file);
    if (size > largestRecord)
      return unreadable(`${size} bytes, and a record has ${largestRecord} at most`);
    text = readFileSync(file, 'utf8');
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    return code === 'ENOENT'
      ? unreadable('missing (a run that was killed has none)', { missing: true })
      : unreadable(message);
  }
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    return unreadable(`cut off or no JSON (${(error as Error).message})`);
  }
  const { schema_version: version, verdict } = (value ?? {}) as Record<string, unknown>;
  if (version !== currentVersion)
    return unreadable(
      `version ${JSON.stringify(version)}; this hopdrill reads version ${currentVersion}`,
      { verdict: verdicts.find((known) => known === verdict) ?? null },
    );
  const parsed = runRecord.safeParse(value);
  if (parsed.success) return { record: parsed.data };
  const problems = parsed.error.issues.slice(0, 5).map(({ path, message }) => {
    return `${path.join('.') || 'the record'}: ${message}`;
  });
  return unreadable(problems.join('; '));
}
