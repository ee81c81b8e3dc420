import { messageOf } from '../drivers/errors.ts';
import type { Plan } from '../plan/plan-scenario.ts';
import type { Check } from '../records/run-record.ts';
import { declaredWait } from '../records/spans.ts';
import { isActive, nameOf } from '../run-tools/faults.ts';
import type { Tools } from '../run-tools/tools.ts';
import type { Engine } from '../undo/engine.ts';

const pauseMs = 200;

/**
 * The second channel: is the fault there, and noticed by what depends on it? Asked before the
 * preflight may judge; without it nothing is asked of the platform.
 */
export async function effect(
  { plan, engine }: { readonly plan: Plan; readonly engine: Engine },
  tools: Tools,
): Promise<Check[]> {
  const until = performance.now() + plan.run.budgets.effect_ms;
  const one = async (index: number): Promise<Check> => {
    const name = nameOf(plan, index);
    for (;;) {
      const seen = await isActive(engine, index).catch(messageOf);
      const ok = typeof seen === 'string' ? null : seen.active;
      const detail = typeof seen === 'string' ? seen : seen.detail;
      const over = performance.now() > until || tools.signal.aborted;
      if (ok === true || over) return { name, ok, detail };
      await declaredWait('effect', pauseMs, tools.signal);
    }
  };
  return Promise.all(plan.run.faults.map((_, index) => one(index)));
}
