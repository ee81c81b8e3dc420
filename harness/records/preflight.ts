import { z } from 'zod';

export const hopStatuses = ['pass', 'fail', 'warn', 'unknown', 'skipped', 'not_run'] as const;

const evidence = z.strictObject({
  kind: z.string(),
  source: z.string(),
  observed_at: z.string(),
  value: z.unknown(),
});

/** What one probe found about one hop. */
export const hopReport = z.strictObject({
  id: z.string(),
  order: z.number().int(),
  status: z.enum(hopStatuses),
  signal: z.string().nullable(),
  cause: z.string().nullable(),
  /** The resource blamed by a failing hop: `link:node-api`, `file:ca-bundle`, ... */
  blames: z.string().nullable(),
  summary: z.string(),
  /** Why it was not asked, when it was skipped for want of input. */
  skipped_because: z.string().nullable(),
  /** Hops that are waited for before this one is asked. */
  depends_on: z.array(z.string()),
  /** From where it was asked, in a word of the system. */
  vantage: z.string(),
  target: z.string().nullable(),
  started_ms: z.number(),
  duration_ms: z.number(),
  deadline_ms: z.number(),
  steps: z.array(
    z.strictObject({
      phase: z.string(),
      start_ms: z.number(),
      duration_ms: z.number(),
      code: z.string().nullable(),
      raw: z.string().nullable(),
    }),
  ),
  evidence: z.array(evidence),
  ruled_out: z.array(z.strictObject({ what: z.string(), because: z.string() })),
  explained_by: z.string().nullable(),
  confidence: z.enum(['high', 'low']).nullable(),
  /** What would have to be known to be certain. */
  confidence_because: z.array(z.string()),
  hint: z.string().nullable(),
});
export type HopReport = z.infer<typeof hopReport>;

/** The one JSON document of `hopdrill preflight` . */
export const preflightReport = z.strictObject({
  schema_version: z.literal(1),
  result: z.enum(['healthy', 'failed', 'inconclusive']),
  hop: z.string().nullable(),
  signal: z.string().nullable(),
  cause: z.string().nullable(),
  confidence: z.enum(['high', 'low']).nullable(),
  confidence_because: z.array(z.string()),
  also_failing: z.array(
    z.strictObject({
      hop: z.string(),
      signal: z.string().nullable(),
      cause: z.string().nullable(),
    }),
  ),
  owner: z.string().nullable(),
  recovery: z
    .strictObject({ text: z.string(), command: z.string().nullable(), auto: z.boolean() })
    .nullable(),
  /** The command that says more about the signal. */
  doc: z.string().nullable(),
  ruled_out: z.array(z.strictObject({ what: z.string(), because: z.string() })),
  /** What the platform tells its user; words of the system. */
  user_state: z.string().nullable(),
  /** `error` when a user who opens a terminal gets a terminal error. */
  user_access: z.enum(['ok', 'error']).nullable(),
  /** How far it goes, in a word of the system. */
  scope: z.string().nullable(),
  partial: z.boolean(),
  inconclusive_because: z.array(z.string()),
  correlation_id: z.string(),
  run_id: z.string(),
  started_at: z.string(),
  duration_ms: z.number(),
  /** Where it was asked; the addresses are the system's. */
  environment: z.object({ profile: z.string().nullable() }).catchall(z.string().nullable()),
  /** What it was about: the ids of things of the system. */
  subject: z.record(z.string(), z.string().nullable()),
  proof: z.string().nullable(),
  tool: z.strictObject({ version: z.string(), node_version: z.string() }),
  hops: z.array(hopReport),
  error: z.strictObject({ code: z.string(), message: z.string() }).nullable(),
});
export type PreflightReport = z.infer<typeof preflightReport>;
