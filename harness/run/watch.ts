import type { Plan } from '../plan/plan-scenario.ts';
import { type AuditSlot, breaksDatabase, holdSlot } from '../run-tools/audit-slot.ts';
import { brokenBefore, type Guards, openGuards } from '../run-tools/guards.ts';
import type { Handles } from '../run-tools/handles.ts';
import { watchMustNots } from '../run-tools/must-nots.ts';
import type { Tools } from '../run-tools/tools.ts';
import type { Watching } from '../run-tools/watching.ts';
import { startAudit, type WriteAudit } from '../run-tools/write-audit.ts';

/** From here to the end somebody looks at the database, the must-nots and the guards. */
export async function watch(
  { plan, handles }: { readonly plan: Plan; readonly handles: Handles },
  tools: Tools,
): Promise<Watching> {
  const early = await brokenBefore(tools);
  const slot = breaksDatabase(plan.run, tools.profile) ? await handles.open(slotOf(tools)) : null;
  const writes = await handles.open(auditOf(tools, slot));
  const mustNots = await watchMustNots(plan, tools);
  const guards = early === null ? await handles.open(guardsOf(tools)) : null;
  return { writes, mustNots, brokenGuard: () => early ?? guards?.broken() ?? null };
}

const slotOf = ({ profile, runId, redact, deadman, stateDir }: Tools) => ({
  name: 'place of the audit in the log of the database',
  withinMs: 30_000,
  open: () =>
    holdSlot({ profile, runId, redact, deadman, ...(stateDir !== undefined && { stateDir }) }),
  close: (slot: AuditSlot) => slot.drop(),
});

const auditOf = ({ profile, runId }: Tools, slot: AuditSlot | null) => ({
  name: 'audit of the database',
  withinMs: 30_000,
  open: () => startAudit(profile, slot?.run ?? runId, slot === null),
  close: async (writes: WriteAudit | undefined) => {
    await writes?.close();
    return undefined;
  },
});

const guardsOf = (tools: Tools) => ({
  name: 'guards',
  withinMs: 10_000,
  open: () => Promise.resolve(openGuards(tools)),
  close: async (guards: Guards) => {
    await guards.close();
    return undefined;
  },
});
