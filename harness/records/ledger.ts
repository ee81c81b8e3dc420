import { z } from 'zod';
import { faultPlan, stepStates } from './fault.ts';
import { profile } from './profile.ts';

/** Who holds a lock or a run: a pid alone may have been given to somebody else since. */
export const owner = z.object({
  pid: z.number().int(),
  start_time: z.string(),
  boot_id: z.string(),
});
export type Owner = z.infer<typeof owner>;

/** All that an undo in another process needs to reach the targets; paths are absolute. */
export const targets = z.object({
  stack: z.string(),
  nodes: profile.shape.nodes,
  parts: profile.shape.parts,
  toxiproxy: profile.shape.toxiproxy,
});
export type Targets = z.infer<typeof targets>;

const runLine = z.object({
  type: z.literal('run'),
  run: z.string(),
  at: z.string(),
  stack: z.string(),
  engine: z.string(),
  owner,
  lease_seconds: z.number(),
  deadman: z.boolean(),
  targets,
});

const stepLine = z.object({
  type: z.literal('step'),
  step: z.number().int(),
  state: z.enum(stepStates),
  at: z.string(),
  /** `runner`, `undo`, `watchdog`: who did it. */
  by: z.string(),
  /** With `intended`: the plan with every placeholder filled in, and the digest before. */
  plan: faultPlan.optional(),
  digest_before: z.string().optional(),
  /** With `applied`. */
  digest_injected: z.string().optional(),
  /** The undo has begun: from here on a changed digest is our own doing and no repair's. */
  undoing: z.boolean().optional(),
  detail: z.string().optional(),
});

/** The last line: nothing of this run is left anywhere. */
const closedLine = z.object({ type: z.literal('closed'), at: z.string(), by: z.string() });

export const ledgerLine = z.discriminatedUnion('type', [runLine, stepLine, closedLine]);
export type LedgerLine = z.infer<typeof ledgerLine>;
export type RunLine = z.infer<typeof runLine>;
