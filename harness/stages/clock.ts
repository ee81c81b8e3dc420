import type { Events, StageName } from '../records/events.ts';
import type { RunRecord } from '../records/run-record.ts';
import { collectSpans, type Span, unionMs } from '../records/spans.ts';
import { messageOf } from './deps.ts';
import type { RunFolder } from './run-folder.ts';

/** Times the stages of one run, tells the events, and keeps the books of whose time it was. */
export type StageRecord = RunRecord['stages'][number];

export interface StageClock {
  readonly stages: readonly StageRecord[];
  readonly startedAt: Date;
  elapsed(): number;
  ownMs(): number;
  note(text: string): void;
  /** Runs one stage. What it throws is recorded and thrown on. */
  stage<T>(
    name: StageName,
    budgetMs: number | null,
    work: () => Promise<T>,
    detail?: (result: T) => string,
  ): Promise<T>;
}

export function startClock(
  scenario: string,
  runId: string,
  folder: RunFolder,
  events: Events,
): StageClock {
  const startedAt = new Date();
  const began = performance.now();
  const stages: StageRecord[] = [];
  const base = () => ({ at: new Date().toISOString(), scenario, run_id: runId });
  const elapsed = (): number => performance.now() - began;
  let current: StageName = 'plan';
  const tell: Events = (event) => {
    folder.append('events.jsonl', event);
    events(event);
  };
  const tellStage = (
    name: StageName,
    status: 'start' | 'done' | 'failed',
    budgetMs: number | null,
    record: StageRecord | null,
  ): void => {
    tell({
      event: 'stage',
      ...base(),
      stage: name,
      status,
      elapsed_ms: round(elapsed()),
      budget_ms: budgetMs,
      ...timesOf(record),
    });
  };
  return {
    stages,
    startedAt,
    elapsed,
    ownMs: () => round(stages.reduce((sum, one) => sum + one.own_ms, 0)),
    note: (text) => tell({ event: 'note', ...base(), stage: current, text: folder.redact(text) }),
    async stage(name, budgetMs, work, detail) {
      current = name;
      const start = elapsed();
      const from = performance.now();
      const spans: Span[] = [];
      tellStage(name, 'start', budgetMs, null);
      const end = (status: 'done' | 'failed', text: string): void => {
        const to = performance.now();
        const own = to - from - unionMs(spans, from, to);
        const record: StageRecord = {
          stage: name,
          status,
          start_ms: round(start),
          duration_ms: round(to - from),
          own_ms: round(own),
          detail: folder.redact(text),
        };
        stages.push(record);
        tellStage(name, status, budgetMs, record);
        keepSpans(folder, name, spans);
      };
      try {
        const result = await collectSpans(spans, work);
        end('done', detail?.(result) ?? '');
        return result;
      } catch (error) {
        end('failed', messageOf(error));
        throw error;
      }
    },
  };
}

/** A stage that only begins has no times yet. */
const timesOf = (record: StageRecord | null) => ({
  duration_ms: record?.duration_ms ?? null,
  own_ms: record?.own_ms ?? null,
  detail: record?.detail ?? null,
});

function keepSpans(folder: RunFolder, stage: StageName, spans: readonly Span[]): void {
  folder.append('spans.jsonl', {
    stage,
    spans: spans.map((span) => ({
      kind: span.kind,
      name: span.name,
      ms: round(span.endMs - span.startMs),
    })),
  });
}

export function round(ms: number): number {
  return Math.round(ms * 10) / 10;
}
