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
  vantage: z.enum(['operator', 'node', 'node_as_agent', 'control_plane', 'gateway', 'browser']),
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

/** The one JSON document of `hopdrill preflight` (PREFLIGHT.md 4, words of RULINGS 5). */
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
  user_state: z
    .enum([
      'normal',
      'temporary',
      'recovering',
      'operator_action_required',
      'security_action_required',
    ])
    .nullable(),
  /** `error` when a user who opens a terminal gets a terminal error. */
  user_access: z.enum(['ok', 'error']).nullable(),
  scope: z.enum(['node', 'fleet']).nullable(),
  partial: z.boolean(),
  inconclusive_because: z.array(z.string()),
  correlation_id: z.string(),
  run_id: z.string(),
  started_at: z.string(),
  duration_ms: z.number(),
  environment: z.strictObject({
    profile: z.string().nullable(),
    api_url: z.string().nullable(),
    terminal_url: z.string().nullable(),
  }),
  subject: z.strictObject({
    node_id: z.string().nullable(),
    allocation_id: z.string().nullable(),
    session_id: z.string().nullable(),
  }),
  proof: z.string().nullable(),
  tool: z.strictObject({ version: z.string(), node_version: z.string() }),
  hops: z.array(hopReport),
  error: z.strictObject({ code: z.string(), message: z.string() }).nullable(),
});
export type PreflightReport = z.infer<typeof preflightReport>;
