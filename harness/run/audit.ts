import type { PreflightReport } from '../records/preflight.ts';
import type { Check, RunRecord } from '../records/run-record.ts';
import type { TimelineEntry } from '../records/timeline.ts';
import { platformEvents } from '../run-tools/timeline.ts';
import type { Tools } from '../run-tools/tools.ts';
import type { Watching } from '../run-tools/watching.ts';

export interface Audited {
  readonly audit: RunRecord['audit'];
  /** Null when nobody was asked any more, because the run was interrupted. */
  readonly invariants: Check[] | null;
  readonly events: readonly TimelineEntry[];
}

/** Who wrote to the database meanwhile, and the last readings of the must-nots. */
export async function audit(
  { watching, report }: { readonly watching: Watching; readonly report: PreflightReport | null },
  tools: Tools,
): Promise<Audited> {
  const found = (await watching.writes?.finish()) ?? null;
  const events = await platformEvents(tools, report);
  const invariants = tools.signal.aborted ? null : await watching.mustNots.check('end');
  return { audit: found, invariants, events };
}

export function auditWords({ audit }: Audited): string {
  if (audit === null) return 'not audited';
  if (audit.problem !== null) return audit.problem;
  return audit.edits.length === 0 ? 'only the platform wrote' : audit.edits.join('; ');
}
