import { messageOf } from '../base/message-of.ts';
import type { Plan } from '../plan/plan-scenario.ts';
import type { Check } from '../records/run-record.ts';
import { nameOf } from '../run-tools/faults.ts';
import type { Engine } from '../undo/engine.ts';
import { isFinal } from '../undo/ledger.ts';

/** Reads each target again: is what was broken as it was before? */
export async function readback({
  plan,
  engine,
}: {
  readonly plan: Plan;
  readonly engine: Engine;
}): Promise<Check[]> {
  const checks: Check[] = [];
  for (const index of engine.steps.keys()) {
    const name = nameOf(plan, index);
    try {
      const { state, detail } = await engine.verify(index);
      checks.push({ name, ok: isFinal(state), detail: `${state}: ${detail}` });
    } catch (error) {
      checks.push({ name, ok: false, detail: messageOf(error) });
    }
  }
  return checks;
}
