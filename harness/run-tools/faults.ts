import type { Plan } from '../plan/plan-scenario.ts';
import type { Engine } from '../undo/engine.ts';

/** `link.cut on link:LINK`: how a fault is called in checks and reasons. */
export function nameOf({ run }: Plan, index: number): string {
  const fault = run.faults[index];
  return fault === undefined ? `fault ${index}` : `${fault.fault} on ${fault.target}`;
}

/** Whether a fault is there; throws when that could not be read. */
export async function isActive(
  engine: Engine,
  index: number,
): Promise<{ active: boolean; detail: string }> {
  const { active, detail } = await engine.isActive(index);
  if (active === null) throw new Error(`our own probe of the effect broke: ${detail}`);
  return { active, detail };
}
