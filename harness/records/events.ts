import { z } from 'zod';
import { verdictRecord, verdicts } from './verdict.ts';

/**
 * One line of `events.jsonl`, of `hopdrill run --json`, and of the live progress: all three read
 * the same events.
 */
export const stageNames = [
  'open',
  'baseline',
  'watch',
  'inject',
  'effect',
  'observe',
  'evidence',
  'repair',
  'readback',
  'recover',
  'audit',
  'teardown',
] as const;
export type StageName = (typeof stageNames)[number];

const base = { at: z.string(), scenario: z.string(), run_id: z.string() };

const runStarted = z.strictObject({
  event: z.literal('run'),
  ...base,
  stack: z.string(),
  dir: z.string(),
});
const stage = z.strictObject({
  event: z.literal('stage'),
  ...base,
  stage: z.enum(stageNames),
  status: z.enum(['start', 'done', 'failed']),
  elapsed_ms: z.number(),
  budget_ms: z.number().nullable(),
  duration_ms: z.number().nullable(),
  own_ms: z.number().nullable(),
  detail: z.string().nullable(),
});
const note = z.strictObject({
  event: z.literal('note'),
  ...base,
  stage: z.enum(stageNames),
  text: z.string(),
});
const verdict = z.strictObject({
  event: z.literal('verdict'),
  ...base,
  ...verdictRecord.shape,
  duration_ms: z.number(),
  own_ms: z.number(),
  dir: z.string(),
});

export const summaryResult = z.strictObject({
  scenario: z.string(),
  verdict: z.enum(verdicts),
  hop: z.string().nullable(),
  signal: z.string().nullable(),
  duration_ms: z.number(),
  own_ms: z.number(),
});
const wouldRun = z.strictObject({
  event: z.literal('would_run'),
  scenario: z.string(),
  file: z.string(),
});
const summary = z.strictObject({
  event: z.literal('summary'),
  verdict: z
    .enum(verdicts)
    .nullable()
    .describe('the worst of all; null when nothing ran, as in a dry run'),
  results: z.array(summaryResult),
});

export const runEvent = z.discriminatedUnion('event', [
  runStarted,
  stage,
  note,
  verdict,
  wouldRun,
  summary,
]);
export type RunEvent = z.infer<typeof runEvent>;
export type SummaryEvent = z.infer<typeof summary>;
export type Events = (event: RunEvent) => void;
