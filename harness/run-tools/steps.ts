import { messageOf } from '../base/message-of.ts';
import { collectSpans, type Span, unionMs } from '../base/spans.ts';
import type { StageName } from '../records/events.ts';
import type { RunParts, RunRecord } from '../records/run-record.ts';
import type { Listener } from './listeners.ts';

type StageRecord = RunRecord['stages'][number];
export type Tell = <K extends keyof Listener>(
  what: K,
  ...words: Parameters<NonNullable<Listener[K]>>
) => void;

export interface StepOptions<T> {
  readonly budgetMs?: number;
  /** The parts of the record that it found. */
  readonly parts?: (result: T) => Partial<RunParts>;
  /** What it came to, in words for people. */
  readonly words?: (result: T) => string;
}

/** Times the steps of one run, tells how they go, and keeps the books of whose time it was. */
export interface StepClock {
  readonly stages: readonly StageRecord[];
  elapsed(): number;
  note(text: string): void;
  /** What the step throws is noted and thrown on. */
  time<T>(stage: StageName, work: () => Promise<T>, options: StepOptions<T>): Promise<T>;
}

export function startClock(
  about: { readonly scenario: string; readonly run_id: string },
  redact: (text: string) => string,
  tell: Tell,
): StepClock {
  const began = performance.now();
  const stages: StageRecord[] = [];
  let current: StageName = 'open';
  const base = () => ({ at: new Date().toISOString(), ...about });
  const elapsed = (): number => performance.now() - began;
  const tellStage = (
    stage: StageName,
    status: 'start' | StageRecord['status'],
    budgetMs: number | undefined,
    ended?: StageRecord,
  ): void =>
    tell('event', {
      event: 'stage',
      ...base(),
      stage,
      status,
      elapsed_ms: round(elapsed()),
      budget_ms: budgetMs ?? null,
      duration_ms: ended?.duration_ms ?? null,
      own_ms: ended?.own_ms ?? null,
      detail: ended?.detail ?? null,
    });
  return {
    stages,
    elapsed,
    note: (text) => tell('event', { event: 'note', ...base(), stage: current, text: redact(text) }),
    async time(stage, work, { budgetMs, words }) {
      current = stage;
      const [start, from] = [elapsed(), performance.now()];
      const spans: Span[] = [];
      tellStage(stage, 'start', budgetMs);
      const end = (status: StageRecord['status'], text: string): void => {
        const to = performance.now();
        const ended: StageRecord = {
          stage,
          status,
          start_ms: round(start),
          duration_ms: round(to - from),
          own_ms: round(to - from - unionMs(spans, from, to)),
          detail: redact(text),
        };
        stages.push(ended);
        tellStage(stage, status, budgetMs, ended);
        tell('spans', stage, spans);
      };
      try {
        const result = await collectSpans(spans, work);
        end('done', words?.(result) ?? '');
        return result;
      } catch (error) {
        end('failed', messageOf(error));
        throw error;
      }
    },
  };
}

export const round = (ms: number): number => Math.round(ms * 10) / 10;
