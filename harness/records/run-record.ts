import { z } from 'zod';
import { stageNames } from './events.ts';
import type { EndingSignal } from './exit-codes.ts';
import { expectation } from './expectation.ts';
import { severities } from './severity.ts';
import { reason, verdicts } from './verdict.ts';

/** What a run came to (`verdict.json`). Reports read this and compute no verdict of their own. */
const seen = z.strictObject({
  at: z.string(),
  result: z.enum(['healthy', 'failed', 'inconclusive']),
  hop: z.string().nullable(),
  signal: z.string().nullable(),
  cause: z.string().nullable(),
  confidence: z.enum(['high', 'low']).nullable(),
  /** Why it is low. */
  confidence_because: z.array(z.string()),
  also_failing: z.array(z.string()),
  because: z.array(z.string()),
  duration_ms: z.number(),
});
export type Seen = z.infer<typeof seen>;

/**
 * The page as a browser rendered it, and where the platform knows the correlation id that it shows.
 */
export const pageSeen = z.strictObject({
  state: z.string(),
  code: z.string(),
  message: z.string(),
  next: z.string(),
  correlation_id: z.string(),
  found_in: z.array(z.string()),
});

export const userSeen = z.strictObject({
  state: z.string().nullable(),
  /**
   * `error` is the platform's own word; `refused` is a bare refusal, which only a page can put
   * into words; `silent`: nothing came in time.
   */
  access: z.enum(['ok', 'error', 'refused', 'silent']).nullable(),
  message: z.string().nullable(),
  correlation_id: z.string().nullable(),
  found_in: z.array(z.string()),
  /** From the first question until the user had this; with a terminal, until it said so. */
  after_ms: z.number(),
  page: pageSeen.nullable(),
  /**
   * Why nobody looked at the page although that was asked for; declared = the profile says so
   * openly.
   */
  page_unseen: z.strictObject({ why: z.string(), declared: z.boolean() }).nullable().default(null),
});
export type UserSeen = z.infer<typeof userSeen>;

/** What a scenario asked to be seen and nobody saw, in the one wording of stages and reports. */
export const unseenWords = ({ why }: NonNullable<UserSeen['page_unseen']>): string =>
  `the console page was not looked at: ${why}`;

const check = z.strictObject({ name: z.string(), ok: z.boolean().nullable(), detail: z.string() });
export type Check = z.infer<typeof check>;

export const observation = z.strictObject({
  /** Each preflight while the fault was in, in order; the first classified one is judged. */
  preflights: z.array(seen),
  judged: seen.nullable(),
  user: userSeen.nullable(),
  history: z.array(z.string()),
  /** Views that were asked for and could not be read, each with why. */
  unread: z
    .array(z.strictObject({ view: z.enum(['user', 'history']), why: z.string() }))
    .default([]),
  still_active: z.boolean().nullable(),
  detected_after_ms: z.number().nullable(),
  /** What is named, or shown, later than this is too late. */
  limit_ms: z.number(),
});
export type Observation = z.infer<typeof observation>;

const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const satisfies readonly EndingSignal[];

/** One file of the run folder that a step wrote besides the record. */
export const attachment = z.strictObject({
  path: z.string(),
  bytes: z.number().int(),
  sha256: z.string(),
});
export type Attachment = z.infer<typeof attachment>;

const stage = z.strictObject({
  stage: z.enum(stageNames),
  status: z.enum(['done', 'failed']),
  start_ms: z.number(),
  duration_ms: z.number(),
  own_ms: z.number(),
  detail: z.string(),
});

/**
 * What each step found, written as soon as it is known and never changed. A part that is null was
 * never reached, or its step threw: then `errors` says so.
 */
export const runParts = z.strictObject({
  /** Why the run did not begin; and what an earlier run left that nobody can take back. */
  refused: z.strictObject({ because: z.array(z.string()), left: z.array(z.string()) }).nullable(),
  baseline: z.strictObject({ green: z.boolean(), detail: z.string(), seen }).nullable(),
  effect: z.array(check),
  observation: observation.nullable(),
  evidence: z.array(check),
  repairs: z.array(check),
  readback: z.array(check),
  /** Actions that were planned and not done, or the other way round. */
  differences: z.array(z.string()),
  recovery: z
    .strictObject({
      recovered: z.boolean(),
      after_ms: z.number().nullable(),
      proofs: z.array(check),
    })
    .nullable(),
  audit: z
    .strictObject({
      watched: z.boolean(),
      /** The moment up to which every write was seen, when the audit could not go on to the end. */
      until: z.string().nullable(),
      edits: z.array(z.string()),
      problem: z.string().nullable(),
    })
    .nullable(),
  /** The must-nots while the fault was active. */
  watched: z.array(check),
  /** The must-nots at the end, each with its worst reading. */
  invariants: z.array(check).nullable(),
  /** What closing lock, faults, audit and watch could not prove to be gone. */
  teardown: z.array(z.string()),
  /** What ended the run before its end. */
  ended_by: z
    .discriminatedUnion('kind', [
      z.strictObject({ kind: z.literal('signal'), name: z.enum(signals) }),
      z.strictObject({
        kind: z.literal('guard'),
        name: z.string(),
        expected: z.string(),
        observed: z.string(),
      }),
    ])
    .nullable(),
});
export type RunParts = z.infer<typeof runParts>;
export type PartName = keyof RunParts;

/** A run without its verdict: all that the judge reads, and who it is about. */
export const unjudgedRun = z.strictObject({
  schema_version: z.literal(2),
  run_id: z.string(),
  scenario: z.string(),
  title: z.string(),
  why: z.string(),
  source: z.array(z.string()),
  tags: z.array(z.string()),
  severity: z.enum(severities),
  system: z.string(),
  stack: z.string(),
  node: z.string().nullable(),
  started_at: z.string(),
  ended_at: z.string(),
  duration_ms: z.number(),
  own_ms: z.number(),
  dir: z.string(),
  expectation,
  ...runParts.shape,
  /** Steps that broke, which is our own failure and none of the platform. */
  errors: z.array(z.strictObject({ stage: z.enum(stageNames), message: z.string() })),
  stages: z.array(stage),
  attachments: z.array(attachment),
});
export type UnjudgedRun = z.infer<typeof unjudgedRun>;

export const runRecord = unjudgedRun.extend({
  verdict: z.enum(verdicts),
  reasons: z.array(reason),
  /** What is left on targets when the run is dirty, and the command that removes it. */
  leftovers: z.array(z.string()),
});
export type RunRecord = z.infer<typeof runRecord>;
