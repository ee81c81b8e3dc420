import { resolve } from 'node:path';
import { planScenario } from './plan/plan-scenario.ts';
import type { RunRecord } from './records/run-record.ts';
import type { Scenario } from './records/scenario.ts';
import { runScenario } from './run/run.ts';
import { openTools, type RunInput } from './run-tools/tools.ts';
import { loadSystem } from './systems/index.ts';

const defaultOut = resolve(import.meta.dirname, '../reports/out');

/** One scenario on one deployment, for both doors: `hopdrill run` and the vitest plugin. */
export async function runOn(scenario: Scenario, input: RunInput): Promise<RunRecord> {
  const { profile, options = {} } = input;
  const system = await loadSystem(scenario.record.system);
  const plan = planScenario(scenario, profile, system, options.deadman);
  return runScenario(plan, openTools(plan, system, options.out ?? defaultOut, input));
}
