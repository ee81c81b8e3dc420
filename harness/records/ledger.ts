import { z } from 'zod';
import type { Owner } from '../base/owner.ts';
import { action } from './action.ts';
import { stepStates } from './fault.ts';

/** Who holds a lock or a run. */
export const owner = z.object({
  pid: z.number().int(),
  start_time: z.string(),
  boot_id: z.string(),
}) satisfies z.ZodType<Owner>;

/** What lines are written as now. A line without `v` was written by version 1. */
export const ledgerVersion = 2;

const lifeline = z.union([
  z.object({ kind: z.literal('docker'), container: z.string() }),
  z.object({ kind: z.literal('ssh'), host: z.string(), port: z.number().int() }),
]);

const nodeTarget = z.object({
  /** Absent for a node without SSH: then the lifeline is the only way in. */
  sshHost: z.string().optional(),
  sshPort: z.number().int().optional(),
  sshUser: z.string().optional(),
  knownHostsFile: z.string().optional(),
  sshKeyFile: z.string().optional(),
  lifeline,
});
export type NodeTarget = z.infer<typeof nodeTarget>;

/**
 * All that an undo in another process needs to reach the targets; paths are absolute. Not the
 * profile's schema, and unknown keys are let through: a ledger has to be readable long after the
 * profile has changed its form.
 */
export const targets = z.object({
  stack: z.string(),
  nodes: z.record(z.string(), nodeTarget),
  parts: z.record(z.string(), z.object({ container: z.string() })),
  endpoints: z.record(z.string(), z.string()).default({}),
  /** Files; what they hold is never written down. */
  credentials: z.record(z.string(), z.string()).default({}),
  connect: z.object({ address: z.string().optional(), caFile: z.string().optional() }).default({}),
  /** With the part that it runs in; ledgers of version 1 do not say which. */
  toxiproxy: z.object({ url: z.string(), part: z.string().optional() }).optional(),
  database: z
    .object({
      host: z.string(),
      port: z.number().int(),
      name: z.string(),
      user: z.string(),
      passwordFile: z.string(),
    })
    .optional(),
});
export type Targets = z.infer<typeof targets>;

/** Of a fault's plan what taking it back needs; the rest is kept as it was written. */
const stepPlan = z.looseObject({
  fault: z.string(),
  target: z.string(),
  undo: z.array(action),
  digest: action,
  supersedable: z.boolean().default(false),
});
export type StepPlan = z.infer<typeof stepPlan>;

const v = z.number().int().default(1);

const runLine = z.object({
  type: z.literal('run'),
  v,
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
  v,
  step: z.number().int(),
  state: z.enum(stepStates),
  at: z.string(),
  /** `runner`, `undo`, `watchdog`: who did it. */
  by: z.string(),
  /** With `intended`: the plan with every placeholder filled in, and the digest before. */
  plan: stepPlan.optional(),
  digest_before: z.string().optional(),
  /** With `applied`. */
  digest_injected: z.string().optional(),
  /** The undo has begun: from here on a changed digest is our own doing and no repair's. */
  undoing: z.boolean().optional(),
  detail: z.string().optional(),
});

/** The last line: nothing of this run is left anywhere. */
const closedLine = z.object({ type: z.literal('closed'), v, at: z.string(), by: z.string() });

export const ledgerLine = z.discriminatedUnion('type', [runLine, stepLine, closedLine]);
export type LedgerLine = z.infer<typeof ledgerLine>;
/** A line as it is handed to the ledger, which writes its version itself. */
export type NewLine = z.input<typeof ledgerLine>;
export type RunLine = z.infer<typeof runLine>;
