import { messageOf } from '../base/message-of.ts';
import { declared } from '../base/spans.ts';
import { until } from '../base/until.ts';
import { differencesOf } from '../plan/actions.ts';
import type { Plan } from '../plan/plan-scenario.ts';
import type { Check } from '../records/run-record.ts';
import { isActive, nameOf } from '../run-tools/faults.ts';
import type { Tools } from '../run-tools/tools.ts';
import { Refused } from '../systems/hooks.ts';
import type { Engine } from '../undo/engine.ts';

export interface Repaired {
  readonly checks: Check[];
  readonly differences: string[];
}

interface Input {
  readonly plan: Plan;
  readonly engine: Engine;
  readonly injected: boolean;
}

/**
 * The platform's own procedures first, then our undo of every fault, whatever became of them.
 * Nothing here stops at a failure: what can still be put back is put back.
 *
 * After an injection that broke midway our undo alone puts back. It restores what was there before;
 * a certificate that a procedure had issued in between would be replaced by the one it revoked.
 */
export async function repair(input: Input, tools: Tools): Promise<Repaired> {
  const { plan, engine, injected } = input;
  const skipped = tools.signal.aborted || !injected;
  const repaired = skipped
    ? []
    : await runProcedures(input, tools).catch((error: unknown): Check[] => [
        { name: 'repair', ok: false, detail: messageOf(error) },
      ]);
  const ran = repaired.map(({ name }) => name);
  const names = plan.run.repair.map(({ name }) => name).filter((name) => ran.includes(name));
  const procedures = { names, after: engine.executed().length };
  const undone = await undoAll(plan, engine);
  const differences = differencesOf(plan.run, engine, procedures, { injected, repaired: !skipped });
  return { checks: [...repaired, ...undone], differences };
}

/** In the order of the file. A failed one is a reason of its own; the undo follows all the same. */
async function runProcedures(input: Input, tools: Tools): Promise<Check[]> {
  const checks: Check[] = [];
  for (const { name } of input.plan.run.repair) {
    try {
      const procedure = tools.system.repairs[name];
      if (procedure === undefined) throw new Error('the system has no such repair');
      checks.push({ name, ok: true, detail: await procedure.run(tools.context()) });
    } catch (error) {
      const ok = error instanceof Refused ? false : null;
      checks.push({ name, ok, detail: messageOf(error) });
    }
  }
  if (checks.length === 0 || checks.some((check) => check.ok !== true)) return checks;
  return [...checks, ...(await goneByRepair(input, tools))];
}

const patienceMs = 5000;
const pauseMs = 200;

/**
 * Asked between the repairs and our own undo, which would hide a repair that did nothing. Only of
 * faults that the platform has a procedure for; what merely is taken back is not looked at.
 */
function goneByRepair({ plan, engine }: Input, tools: Tools): Promise<Check[]> {
  const mended = new Set(Object.values(tools.system.repairs).flatMap(({ mends }) => mends));
  const repairable = [...plan.run.faults.keys()].filter((index) =>
    mended.has(plan.run.faults[index]?.fault ?? ''),
  );
  const procedures = plan.run.repair.map(({ name }) => name).join(', ');
  const patience = declared('repair', {
    everyMs: pauseMs,
    withinMs: patienceMs,
    signal: tools.signal,
  });
  const gone = async (index: number): Promise<Check> => {
    const name = `repair of ${nameOf(plan, index)}`;
    const look = async (): Promise<Check> => {
      const seen = await isActive(engine, index).catch(messageOf);
      if (typeof seen === 'string') return { name, ok: false, detail: seen };
      return seen.active
        ? { name, ok: false, detail: `still there after ${procedures}: ${seen.detail}` }
        : { name, ok: true, detail: 'gone before our own undo' };
    };
    return (await until(look, ({ ok }) => ok === true, patience)).answer;
  };
  return Promise.all(repairable.map(gone));
}

/** From the last fault to the first. */
async function undoAll(plan: Plan, engine: Engine): Promise<Check[]> {
  const checks: Check[] = [];
  for (let index = engine.steps.length - 1; index >= 0; index -= 1) {
    const name = `undo ${nameOf(plan, index)}`;
    try {
      checks.push({ name, ok: true, detail: (await engine.undo(index)).detail });
    } catch (error) {
      checks.push({ name, ok: false, detail: messageOf(error) });
    }
  }
  return checks;
}
