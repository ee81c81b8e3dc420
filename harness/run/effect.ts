import { messageOf } from '../base/message-of.ts';
import { declared } from '../base/spans.ts';
import { until } from '../base/until.ts';
import type { Plan } from '../plan/plan-scenario.ts';
import type { Check } from '../records/run-record.ts';
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
  const { signal } = tools;
  const patience = { everyMs: pauseMs, withinMs: plan.run.budgets.effect_ms, signal };
  const look = async (index: number): Promise<Check> => {
    const name = nameOf(plan, index);
    const seen = await isActive(engine, index).catch(messageOf);
    if (typeof seen === 'string') return { name, ok: null, detail: seen };
    return { name, ok: seen.active, detail: seen.detail };
  };
  const one = (index: number) =>
    until(
      () => look(index),
      ({ ok }) => ok === true,
      declared('effect', patience),
    );
  const looks = await Promise.all(plan.run.faults.map((_, index) => one(index)));
  return looks.map(({ answer }) => answer);
}
