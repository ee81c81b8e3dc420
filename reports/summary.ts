import type { SummaryEvent } from '../harness/records/events.ts';
import { type RunRecord, unseenWords } from '../harness/records/run-record.ts';
import { byWeight, reasonWords, type Verdict, worst } from '../harness/records/verdict.ts';
import type { FolderRead } from './records.ts';

/** The table that ends every run, and the same as one JSON line. */
export interface Row {
  readonly scenario: string;
  readonly verdict: Verdict;
  readonly hop: string | null;
  readonly signal: string | null;
  readonly duration_ms: number;
  readonly own_ms: number;
  readonly why: string;
  readonly dir: string;
}

export function rowOf(record: RunRecord): Row {
  const seen = record.observation?.judged;
  const [first] = record.reasons;
  return {
    scenario: record.scenario,
    verdict: record.verdict,
    hop: seen?.hop ?? null,
    signal: seen?.signal ?? null,
    duration_ms: record.duration_ms,
    own_ms: record.own_ms,
    why: first === undefined ? unseen(record) : reasonWords(first),
    dir: record.dir,
  };
}

/** A pass that nobody could look at in full says so. */
function unseen({ observation }: RunRecord): string {
  const page = observation?.user?.page_unseen ?? null;
  return page === null ? '' : unseenWords(page);
}

/**
 * A run that was killed before its verdict is aborted, and says how far it came; so is one whose
 * record cannot be read, unless that says its verdict.
 */
export function rowOfFolder(folder: FolderRead): Row {
  if (folder.record !== null) return rowOf(folder.record);
  return {
    scenario: folder.scenario,
    verdict: folder.verdict ?? 'aborted',
    hop: null,
    signal: null,
    duration_ms: 0,
    own_ms: 0,
    why: folder.problem ?? `no verdict; ended in ${folder.last ?? 'nothing'}`,
    dir: folder.dir,
  };
}

export function worstOf(rows: readonly Pick<Row, 'verdict'>[]): Verdict {
  return worst(rows.map(({ verdict }) => verdict));
}

export function summaryEvent(rows: readonly Row[]): SummaryEvent {
  const results = rows.map(({ scenario, verdict, hop, signal, duration_ms, own_ms }) => ({
    scenario,
    verdict,
    hop,
    signal,
    duration_ms,
    own_ms,
  }));
  return { event: 'summary', verdict: rows.length === 0 ? null : worstOf(rows), results };
}

export function table(rows: readonly Row[]): string {
  return `${lines(rows)}\n\n${counts(rows)}`;
}

/**
 * Seconds a scenario between the first baseline and the last recovery: what the catalogue costs
 * without up and down.
 */
export function paceOf(
  records: readonly RunRecord[],
): { spanSeconds: number; perScenario: number } | null {
  const at = (record: RunRecord, ms: number): number => Date.parse(record.started_at) + ms;
  const starts = records.flatMap((record) =>
    record.stages.filter((one) => one.stage === 'baseline').map((one) => at(record, one.start_ms)),
  );
  const ends = records.flatMap((record) =>
    record.stages
      .filter((one) => one.stage === 'recover')
      .map((one) => at(record, one.start_ms + one.duration_ms)),
  );
  if (starts.length === 0 || ends.length === 0) return null;
  const spanSeconds = (Math.max(...ends) - Math.min(...starts)) / 1000;
  return { spanSeconds, perScenario: spanSeconds / records.length };
}

export function lines(rows: readonly Row[]): string {
  const cells = rows.map((row) => [
    row.verdict,
    row.scenario,
    row.hop ?? '-',
    row.signal ?? '-',
    seconds(row.duration_ms),
    `${Math.round(row.own_ms)} ms`,
    row.why,
  ]);
  const head = ['verdict', 'scenario', 'failed hop', 'signal', 'wall', 'own', 'why not'];
  const widths = head.map((title, column) =>
    Math.max(
      title.length,
      ...cells.map((line) => (column === 6 ? 0 : (line[column] ?? '').length)),
    ),
  );
  const line = (words: readonly string[]): string =>
    words
      .map((word, column) => (column === 6 ? word : word.padEnd(widths[column] ?? 0)))
      .join('  ')
      .trimEnd();
  return [line(head), ...cells.map(line)].join('\n');
}

/**
 * `16 passed, 0 failed`; everything that is not a pass is named apart, because "inconclusive" is
 * not a pass.
 */
export function counts(
  rows: readonly Pick<Row, 'verdict'>[],
  controls = { passed: 0, failed: 0 },
): string {
  const count = (verdict: Verdict): number => rows.filter((row) => row.verdict === verdict).length;
  const others = byWeight
    .filter((verdict) => verdict !== 'pass' && verdict !== 'fail' && count(verdict) > 0)
    .map((verdict) => `${count(verdict)} ${verdict}`);
  const failed = rows.length - count('pass') + controls.failed;
  return `${count('pass') + controls.passed} passed, ${failed} failed${others.length === 0 ? '' : ` (of which ${others.join(', ')})`}`;
}

function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(1)} s`;
}
