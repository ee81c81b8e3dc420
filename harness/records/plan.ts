import { z } from 'zod';
import { faultPlan } from './fault.ts';

/**
 * What a run will do, before anything is touched; `hopdrill plan` prints it and every run stores it
 * first.
 */
export const runPlan = z.strictObject({
  schema_version: z.literal(1),
  scenario: z.string(),
  file: z.string(),
  title: z.string(),
  system: z.string(),
  stack: z.string(),
  environment: z.string(),
  node: z.string().nullable(),
  severity: z.string(),
  faults: z.array(faultPlan),
  targets: z.array(z.string()),
  cuts: z.array(z.string()),
  /** How the runner still reaches each node that a fault touches. */
  lifelines: z.array(
    z.strictObject({ target: z.string(), way: z.string(), survives: z.boolean() }),
  ),
  blast_radius: z.array(z.string()),
  /** Every action in the order in which it will run, as `executed` compares it. */
  actions: z.array(z.string()),
  undo: z.array(z.string()),
  repair: z.array(z.strictObject({ name: z.string(), title: z.string(), command: z.string() })),
  /** What has to hold while something is broken, or the run ends. */
  guards: z.array(z.string()),
  proofs: z.array(z.string()),
  invariants: z.array(z.string()),
  budgets: z.strictObject({
    effect_ms: z.number(),
    detect_ms: z.number(),
    user_ms: z.number(),
    /** The seeds' budget: what is named, or shown to the user, after this fails the run. */
    limit_ms: z.number(),
    recover_ms: z.number(),
    total_ms: z.number(),
  }),
  preflight_argv: z.array(z.string()),
  audit: z.enum(['watched', 'declared_unwatched', 'unwatched']),
  /** Why this plan will not be carried out; empty when it may be. */
  refusals: z.array(z.string()),
});
export type RunPlan = z.infer<typeof runPlan>;
