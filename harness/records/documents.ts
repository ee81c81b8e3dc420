import { z } from 'zod';
import { runPlan } from './plan.ts';
import { severities } from './severity.ts';

/**
 * What the commands print with `--json`, one document each; `run` and `preflight` have files of
 * their own.
 */
export const listing = z.array(
  z.strictObject({
    name: z.string(),
    file: z.string(),
    system: z.string(),
    source: z.array(z.string()),
    severity: z.enum(severities),
    tags: z.array(z.string()),
  }),
);
export const planDocument = z.strictObject({ plans: z.array(runPlan) });

const container = z.strictObject({
  service: z.string(),
  container: z.string(),
  state: z.string(),
  health: z.string().nullable(),
  restarts: z.number().int(),
  exitCode: z.number().int(),
  endsByItself: z.boolean(),
});
export const statusDocument = z.strictObject({
  stacks: z.array(
    z.strictObject({
      stack: z.string(),
      phase: z.enum(['up', 'starting', 'degraded', 'leftover']),
      system: z.string().nullable(),
      policies: z.string().nullable(),
      profileFile: z.string().nullable(),
      startedAt: z.string().nullable(),
      ports: z.record(z.string(), z.number().int()).nullable(),
      containers: z.array(container),
    }),
  ),
});

export const doctorDocument = z.strictObject({
  ok: z.boolean(),
  prerequisites: z.array(
    z.strictObject({
      name: z.string(),
      status: z.enum(['found', 'missing', 'not-needed']),
      why: z.string(),
      version: z.string().optional(),
      where: z.string().optional(),
      missing: z.string().optional(),
      how: z.string().optional(),
    }),
  ),
});

/** `preflight --explain`: what each hop asks, and on what it fails. */
export const preflightExplanation = z.strictObject({
  system: z.string(),
  hops: z.array(
    z.strictObject({
      id: z.string(),
      order: z.number().int(),
      title: z.string(),
      section: z.string(),
      asked_from: z.string(),
      side: z.boolean(),
      optional: z.boolean(),
      explained_by: z.array(
        z.strictObject({ hop: z.string(), when_blames: z.string().nullable() }),
      ),
      signals: z.array(
        z.strictObject({
          name: z.string(),
          severity: z.string(),
          owner: z.string(),
          next: z.string(),
          causes: z.array(z.string()),
        }),
      ),
    }),
  ),
});
export type PreflightExplanation = z.infer<typeof preflightExplanation>;

const sweptStep = z.strictObject({
  step: z.number().int(),
  fault: z.string(),
  target: z.string(),
  was: z.string(),
  state: z.string(),
  detail: z.string(),
});
export const undoDocument = z.strictObject({
  ok: z.boolean(),
  dry_run: z.boolean(),
  runs: z.array(
    z.strictObject({
      run: z.string(),
      stack: z.string(),
      state: z.enum(['in_progress', 'taken_back', 'unproven', 'found']),
      steps: z.array(sweptStep),
    }),
  ),
  leftovers: z.array(
    z.strictObject({
      where: z.string(),
      what: z.string(),
      run: z.string(),
      state: z.enum(['removed', 'in_use', 'found', 'failed', 'unsearched']),
      detail: z.string(),
    }),
  ),
  lines: z.array(z.string()),
  unproven: z.array(z.string()),
  unsearched: z.array(z.string()),
});

export const stopDocument = z.strictObject({
  ok: z.boolean(),
  runs: z.array(
    z.strictObject({
      stack: z.string(),
      run: z.string().nullable().describe('null: the process was between two scenarios'),
      pid: z.number().int(),
      state: z
        .enum(['ended', 'not_ended', 'not_waited'])
        .describe('not_waited: the command itself was interrupted; the run goes on ending'),
      after_seconds: z.number(),
      line: z.string(),
    }),
  ),
  stacks: z.array(
    z.strictObject({
      stack: z.string(),
      state: z.enum(['clean', 'unproven', 'busy', 'taken_down', 'not_searched']),
      lines: z.array(z.string()),
      unproven: z.array(z.string()),
    }),
  ),
});
export type StopDocument = z.infer<typeof stopDocument>;

/** `report --prune`: which run folders went, and which of those that could go did not. */
export const pruneDocument = z.strictObject({
  ok: z.boolean(),
  dry_run: z.boolean(),
  folders: z.array(
    z.strictObject({
      dir: z.string(),
      state: z.enum(['removed', 'would_be_removed', 'sealed', 'under_way', 'failed']),
      freed_bytes: z.number().int(),
      detail: z.string(),
    }),
  ),
  freed_bytes: z.number().int(),
  latest: z
    .strictObject({ points_to: z.string().nullable().describe('null: the link was removed') })
    .nullable()
    .describe('null: the link stays as it is'),
});
export type PruneDocument = z.infer<typeof pruneDocument>;

/**
 * One row of the bench. `ratio` is value by baseline; `ok` is null where a row has
 * nothing to reach here.
 */
const benchRow = z.strictObject({
  name: z.string(),
  value: z.number().nullable(),
  unit: z.string(),
  baseline: z.number().nullable(),
  ratio: z.number().nullable(),
  reach: z.string(),
  ok: z.boolean().nullable(),
});
export type BenchRow = z.infer<typeof benchRow>;
export const benchDocument = z.strictObject({
  rows: z.array(benchRow),
  /** By row: where the time goes, what it was compared to, or why it was not measured. */
  notes: z.record(z.string(), z.string()),
  machine: z.strictObject({
    cores: z.number().int(),
    load_before: z.number(),
    load_after: z.number(),
    rounds: z.number().int(),
  }),
  /** Measurements that broke; then the exit code is 70. */
  broken: z.array(z.string()),
});
export type BenchDocument = z.infer<typeof benchDocument>;
