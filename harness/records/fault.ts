import { z } from 'zod';
import { action } from './action.ts';

/**
 * Which kind of thing an undo puts back; the kill matrix of the self-proof goes through all of
 * them.
 */
export const undoKinds = [
  'node-rule',
  'node-file',
  'unit',
  'user',
  'process',
  'disk',
  'container',
  'toxic',
  'part-file',
  'slot',
  'api',
  'config',
] as const;

/**
 * One fault as it will be done to one target: everything as data. `snapshot` actions run first and
 * in order; each stores its stdout under its name. `digest` prints a canonical text of the touched
 * thing (never counters, pids or whole shared files); it is equal before the fault and after the
 * undo. `active` is the second channel: its exit code 0 means "the fault is there", 1 means "it is
 * not"; anything else is our own probe that broke.
 */
export const faultPlan = z.strictObject({
  fault: z.string(),
  params: z.record(z.string(), z.unknown()),
  /** `node:node-1`, `part:api`, `link:node-1.node-api`: for locks, blast radius and reports. */
  target: z.string(),
  kind: z.enum(undoKinds),
  summary: z.string(),
  /**
   * Ways that this fault cuts: `ssh:node-1`, `link:node-1.node-api`, `dns:node-1`, ... The plan
   * refuses one that cuts the only lifeline.
   */
  cuts: z.array(z.string()),
  snapshot: z.array(z.strictObject({ name: z.string(), do: action })),
  inject: z.array(action),
  /** Run in order; each must be harmless when the thing is already back. */
  undo: z.array(action),
  active: action,
  digest: action,
  /**
   * How the fault reaches what is already open (restart of the agent, cut sockets); part of inject,
   * named here for people.
   */
  reaches: z.string().optional(),
  /**
   * It happened, and nothing takes that back: `active` says that it did, also afterwards. The undo
   * only ends what is still under way.
   */
  event: z.boolean().default(false),
  /**
   * When true, an undo first compares the digest of the present state with `digestInjected`; if a
   * repair replaced the thing, the step is superseded and nothing is put back.
   */
  supersedable: z.boolean().default(false),
});
export type FaultPlan = z.infer<typeof faultPlan>;
export type UndoKind = (typeof undoKinds)[number];

/** States of one ledger step. */
export const stepStates = [
  'intended',
  'applied',
  'reverted',
  'verified',
  'superseded',
  'ambiguous',
] as const;
export type StepState = (typeof stepStates)[number];
