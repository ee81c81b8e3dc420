import { z } from 'zod';
import { severities } from './severity.ts';

const durationText = z
  .string()
  .regex(/^(\d+(\.\d+)?)(ms|s|m|h)$/, 'a duration with its unit: 500ms, 4s, 2m, 1h');
const within = z.union([z.literal('default'), durationText]).default('default');
const name = z
  .string()
  .regex(
    /^[a-z0-9][a-z0-9-]*(\/[a-z0-9][a-z0-9-]*)*$/,
    'lower case words joined by "-", groups joined by "/"',
  );

const expectUser = z.strictObject({
  state: z.string().describe('the state that the platform gives its user'),
  access: z
    .enum(['ok', 'error'])
    .optional()
    .describe('error: a user who opens a terminal gets a terminal error'),
  page: z
    .strictObject({ shows: z.string() })
    .optional()
    .describe('text that the console renders, seen in a real browser'),
});

const expectation = z.strictObject({
  hop: z.string().describe('the one hop that must fail, or none'),
  signal: z.string().optional(),
  cause: z.string().optional(),
  confidence: z
    .enum(['high', 'low'])
    .default('high')
    .describe('how sure the preflight must be of the hop; low where it cannot be told apart'),
  result: z.enum(['healthy', 'inconclusive', 'failed']).optional().describe('only with hop: none'),
  history: z
    .array(z.string())
    .optional()
    .describe('what the platform itself must have recorded meanwhile'),
  also: z
    .array(z.string())
    .optional()
    .describe(
      'further hops that may fail without being over-attribution; with hop: none, on the way back to green',
    ),
  within: within.describe(
    'time from effect to the named hop; default is the formula of the signal',
  ),
  user: expectUser.optional(),
  never: z.array(z.string()).default([]).describe('invariants that must hold during the whole run'),
});

/** Unknown keys are refused; names are checked by the loader, which knows the vocabulary. */
export const scenarioFile = z.strictObject({
  scenario: name,
  title: z.string().min(1),
  why: z.string().min(1),
  source: z
    .array(z.string())
    .default([])
    .describe(
      'ids in the catalogue of the system that this proves; none for a system without a catalogue',
    ),
  severity: z.enum(severities),
  system: z.string(),
  tags: z.array(z.string()).default([]),
  target: z.strictObject({ node: z.string().optional() }).default({}),
  faults: z.array(z.record(z.string(), z.record(z.string(), z.unknown()))).min(1),
  preflight: z
    .array(z.string())
    .default([])
    .describe('further flags of the preflight, e.g. --attach: hand host evidence to the platform'),
  expect: expectation,
  repair: z
    .union([z.enum(['none', 'revert']), z.array(z.string()).min(1)])
    .default('revert')
    .describe('revert: our own undo only; otherwise the platform procedures, run before the undo'),
  recover: z.strictObject({ within, proof: z.array(z.string()).min(1) }),
  not_covered: z
    .array(
      z.strictObject({
        text: z.string().describe('an evidence or must_not text of the catalogue, word for word'),
        why: z.string().min(1),
      }),
    )
    .default([])
    .describe('what the catalogue demands of these situations and nothing here shows, and why not'),
});
export type ScenarioFile = z.infer<typeof scenarioFile>;

/** Where a key of the file stands, 1-based. */
export interface Position {
  readonly line: number;
  readonly column: number;
}

/** A file that passed: its record, and where each value stands (`expect.hop` -> 12:8). */
export interface Scenario {
  readonly file: string;
  readonly record: ScenarioFile;
  readonly positions: Readonly<Record<string, Position>>;
}
