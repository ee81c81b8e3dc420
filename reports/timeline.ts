import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { RunRecord } from '../harness/records/run-record.ts';
import { type TimelineEntry, timelineEntry } from '../harness/records/timeline.ts';

/**
 * Stages of one run as bars, and below them what the platform wrote down meanwhile: both on one
 * clock, for people.
 */
const width = 48;
const eventsShown = 40;

export function timeline(record: RunRecord, events: readonly TimelineEntry[] = []): string {
  const total = Math.max(1, record.duration_ms);
  const lines = record.stages.map((stage) => {
    const from = Math.min(width - 1, Math.floor((stage.start_ms / total) * width));
    const length = Math.max(1, Math.round((stage.duration_ms / total) * width));
    const bar = `${' '.repeat(from)}${'#'.repeat(Math.min(length, width - from))}`.padEnd(width);
    return `${stage.stage.padEnd(9)} |${bar}| ${(stage.duration_ms / 1000).toFixed(2).padStart(6)} s  own ${stage.own_ms.toFixed(0).padStart(4)} ms  ${stage.detail.slice(0, 90)}`;
  });
  return `${[...lines, ...platformLines(record, events, total)].join('\n')}\n`;
}

/**
 * What the preflights themselves asked of the platform is many lines that say little: those are in
 * the file only.
 */
function platformLines(
  record: RunRecord,
  events: readonly TimelineEntry[],
  total: number,
): string[] {
  const theirs = events.filter(
    ({ source, what }) =>
      source !== 'hopdrill' &&
      !(source === 'audit' && /^(task\.enqueue|terminal\.token|node\.task_requested)$/.test(what)),
  );
  if (theirs.length === 0) return [];
  const began = Date.parse(record.started_at);
  const lines = theirs.slice(0, eventsShown).map(({ at, source, what, detail }) => {
    const ms = Date.parse(at) - began;
    const column = Math.max(0, Math.min(width - 1, Math.floor((ms / total) * width)));
    return `${source.padEnd(9)} |${`${' '.repeat(column)}*`.padEnd(width)}| ${(ms / 1000).toFixed(2).padStart(6)} s  ${what} ${detail}`.slice(
      0,
      170,
    );
  });
  const more = theirs.length - lines.length;
  return ['', ...lines, ...(more > 0 ? [`${more} more in timeline.jsonl`] : [])];
}

/** A folder of a run that was killed has none. */
export function timelineIn(dir: string): TimelineEntry[] {
  const file = join(dir, 'timeline.jsonl');
  if (!existsSync(file)) return [];
  const lines = readFileSync(file, 'utf8')
    .split('\n')
    .filter((line) => line !== '');
  return lines.map((line) => timelineEntry.parse(JSON.parse(line)));
}
