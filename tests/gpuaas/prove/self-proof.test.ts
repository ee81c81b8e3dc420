// Every scenario must be able to fail. Wrong expectations and a forged window are judged from the
// stored records at the end of `npm run chaos`; here a few are run with the fault left out.
import { describe, expect, test } from 'vitest';
import { planScenario } from '../../../harness/plan/plan-scenario.ts';
import type { Scenario } from '../../../harness/records/scenario.ts';
import { runScenario } from '../../../harness/run/run.ts';
import { openTools } from '../../../harness/run-tools/tools.ts';
import { loadSystem } from '../../../harness/systems/index.ts';
import { openIdleEngine } from '../support/idle-engine.ts';
import { load, out, profileOfSuite, say, seconds } from '../support/proof.ts';
import { sample } from '../support/sampling.ts';

const system = await loadSystem('gpuaas');
const scenarios = await load('scenarios/gpuaas');

/** What is proved of recovery besides green is the business of runs that break something. */
const greenIsEnough = (scenario: Scenario): Scenario => ({
  ...scenario,
  record: {
    ...scenario.record,
    recover: { ...scenario.record.recover, proof: ['preflight-green'] },
  },
});

/** Nobody has to wait for an effect that cannot come. */
function planWithoutPatience(scenario: Scenario) {
  const plan = planScenario(greenIsEnough(scenario), profileOfSuite(), system);
  const budgets = { ...plan.run.budgets, effect_ms: 0 };
  return { ...plan, run: { ...plan.run, budgets } };
}

test('all scenarios are here', () => {
  expect(scenarios.length).toBeGreaterThanOrEqual(16);
});

describe('the fault is left out: inconclusive', () => {
  const chosen = sample('runs without their fault', scenarios, 5);
  test.for(chosen.map((one) => [one.record.scenario, one] as const))('%s', async ([, scenario]) => {
    const plan = planWithoutPatience(scenario);
    const options = { out, openEngine: openIdleEngine };
    const run = await runScenario(
      plan,
      openTools(plan, system, out, { profile: profileOfSuite(), options }),
    );
    say(seconds(run.duration_ms));
    expect(run.verdict, JSON.stringify(run.reasons)).toBe('inconclusive');
    expect(run.reasons.length).toBe(run.effect.length);
    expect(
      run.reasons.filter(
        ({ field, expected }) => !field.startsWith('effect of ') || expected !== 'active',
      ),
    ).toEqual([]);
    expect(run.observation, 'nothing is judged without its effect').toBeNull();
    expect(run.readback.filter((check) => check.ok !== true)).toEqual([]);
    expect(run.leftovers).toEqual([]);
    expect(run.recovery).toMatchObject({ recovered: true });
    expect(run.audit).toEqual({ watched: true, until: null, edits: [], problem: null });
  });
});
