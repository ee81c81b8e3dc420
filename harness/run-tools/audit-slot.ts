import { slotOf } from '../drivers/db-slots.ts';
import { type FaultPlan, faultPlan } from '../records/fault.ts';
import type { RunPlan } from '../records/plan.ts';
import { type Profile, watchedDatabase } from '../records/profile.ts';
import { type EngineOptions, openEngine } from '../undo/engine.ts';

/**
 * The replication slot of a run that breaks the database itself. A temporary slot would end with
 * its session, so this one outlives both, and is a step of a ledger: whoever takes back what a
 * killed run left takes it back too. The ledger is the audit's own, since the slot is dropped after
 * everything else.
 */
export interface AuditSlot {
  /** What the slot is named after. */
  readonly run: string;
  /** Gives what could not be proven to be gone. */
  drop(): Promise<readonly string[]>;
}

/** Sorts behind the run's own ledger, so that a sweep starts the database before it asks it. */
export const auditRun = (runId: string): string => `${runId}-audit`;

/** Whether a fault stops, pauses or changes the part in which the database runs. */
export function breaksDatabase(plan: Pick<RunPlan, 'faults'>, profile: Profile): boolean {
  const part = watchedDatabase(profile)?.part;
  if (part === undefined) return false;
  return plan.faults.some(
    ({ target, inject }) =>
      target === `part:${part}` ||
      inject.some((action) => action.kind === 'docker' && action.part === part),
  );
}

export function slotStep(run: string): FaultPlan {
  const slot = slotOf(run);
  return faultPlan.parse({
    fault: 'audit.slot',
    params: {},
    target: 'database',
    kind: 'slot',
    summary: 'the audit keeps its place in the log of the database',
    cuts: [],
    snapshot: [],
    inject: [{ kind: 'database', verb: 'create-slot', slot }],
    undo: [{ kind: 'database', verb: 'drop-slot', slot }],
    active: { kind: 'database', verb: 'read-slot', slot },
    digest: { kind: 'database', verb: 'read-slot', slot },
  });
}

export async function holdSlot(options: EngineOptions): Promise<AuditSlot> {
  const run = auditRun(options.runId);
  const engine = await openEngine({ ...options, runId: run });
  const drop = async (): Promise<readonly string[]> => {
    if (engine.steps.length > 0) {
      await engine.undo(0).catch(() => undefined);
      await engine.verify(0);
    }
    return (await engine.close()).unproven;
  };
  try {
    await engine.prepare([slotStep(run)]);
    await engine.inject(0);
  } catch (error) {
    await drop().catch(() => []);
    throw error;
  }
  return { run, drop };
}
