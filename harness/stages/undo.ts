import { faultNamed } from '../faults/index.ts';
import type { Check } from '../records/run-record.ts';
import { declaredWait } from '../records/spans.ts';
import { hookContext, messageOf, nameOf, type StageDeps } from './deps.ts';
import type { IsActive } from './effect.ts';

/**
 * Repair, undo and read back. Nothing here stops at a failure: what can still be put back is put
 * back.
 */
export interface Undoer {
  readonly count: number;
  undo(index: number): Promise<string>;
  verify(index: number): Promise<{ ok: boolean; detail: string }>;
}

/**
 * The platform's own procedures, in the order of the file. A failed one is a reason of its own; the
 * undo follows all the same.
 */
export async function runRepairs(deps: StageDeps, isActive: IsActive): Promise<Check[]> {
  const checks: Check[] = [];
  for (const { name } of deps.plan.repair) {
    try {
      const repair = deps.hooks.repairs[name];
      if (repair === undefined) throw new Error('the system has no such repair');
      checks.push({ name, ok: true, detail: await repair.run(hookContext(deps)) });
    } catch (error) {
      checks.push({ name, ok: false, detail: messageOf(error) });
    }
  }
  return checks.every((check) => check.ok === true)
    ? [...checks, ...(await repaired(deps, isActive))]
    : checks;
}

const patienceMs = 5000;
const pauseMs = 200;

/**
 * Asked between the repairs and our own undo, which would hide a repair that did nothing. Only of
 * faults that the platform has a procedure for; what merely is taken back is not looked at.
 */
async function repaired(deps: StageDeps, isActive: IsActive): Promise<Check[]> {
  if (deps.plan.repair.length === 0) return [];
  const repairable = [...deps.plan.faults.keys()].filter(
    (index) => (faultNamed(deps.plan.faults[index]?.fault ?? '')?.repairs ?? []).length > 0,
  );
  return Promise.all(repairable.map((index) => gone(deps, isActive, index)));
}

async function gone(deps: StageDeps, isActive: IsActive, index: number): Promise<Check> {
  const name = `repair of ${nameOf(deps, index)}`;
  const until = performance.now() + patienceMs;
  for (;;) {
    let detail: string;
    try {
      const found = await isActive(index);
      if (!found.active) return { name, ok: true, detail: 'gone before our own undo' };
      detail = `still there after ${deps.plan.repair.map((repair) => repair.name).join(', ')}: ${found.detail}`;
    } catch (error) {
      detail = messageOf(error);
    }
    if (performance.now() > until || deps.signal.aborted) return { name, ok: false, detail };
    await declaredWait('repair', pauseMs, deps.signal);
  }
}

/** The undo follows, whatever becomes of the repairs. */
export async function repairThenUndo(
  deps: StageDeps,
  undoer: Undoer,
  repairs: () => Promise<Check[]>,
): Promise<Check[]> {
  const repaired = await repairs().catch((error: unknown): Check[] => [
    { name: 'repair', ok: false, detail: messageOf(error) },
  ]);
  return [...repaired, ...(await undoAll(deps, undoer))];
}

/** Undoes the faults from last to first. */
export async function undoAll(deps: StageDeps, undoer: Undoer): Promise<Check[]> {
  const checks: Check[] = [];
  for (let index = undoer.count - 1; index >= 0; index -= 1) {
    const name = `undo ${nameOf(deps, index)}`;
    try {
      checks.push({ name, ok: true, detail: await undoer.undo(index) });
    } catch (error) {
      checks.push({ name, ok: false, detail: messageOf(error) });
    }
  }
  return checks;
}

export async function readback(deps: StageDeps, undoer: Undoer): Promise<Check[]> {
  const checks: Check[] = [];
  for (let index = 0; index < undoer.count; index += 1) {
    try {
      checks.push({ name: nameOf(deps, index), ...(await undoer.verify(index)) });
    } catch (error) {
      checks.push({ name: nameOf(deps, index), ok: false, detail: messageOf(error) });
    }
  }
  return checks;
}
