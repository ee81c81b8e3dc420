import type { Plan } from '../plan/plan-scenario.ts';
import type { Tools } from '../run-tools/tools.ts';
import type { Engine } from '../undo/engine.ts';

/** Snapshots, ledger and dead-man first; then each fault in the order of the file. */
export async function inject(
  { plan, engine }: { readonly plan: Plan; readonly engine: Engine },
  tools: Tools,
): Promise<{ readonly injected: boolean }> {
  await engine.prepare(plan.run.faults);
  // Told to end meanwhile: nothing is broken any more.
  if (tools.signal.aborted) return { injected: false };
  for (const index of plan.run.faults.keys()) await engine.inject(index);
  return { injected: true };
}
