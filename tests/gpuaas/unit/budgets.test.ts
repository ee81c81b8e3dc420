// How long each scenario may take to be named and to be seen by its user, on both profiles, from
// the plans that runs are made of.
import { describe, expect, it } from 'vitest';
import { loadPolicies } from '../../../fixtures/gpuaas/contract/policies.ts';
import { select } from '../../../harness/cli/select.ts';
import { planScenario } from '../../../harness/plan/plan-scenario.ts';
import { profile as profileSchema } from '../../../harness/records/profile.ts';
import type { Scenario } from '../../../harness/records/scenario.ts';
import { terminalDialSeconds, visitSeconds } from '../../../harness/systems/gpuaas/policies.ts';
import { loadSystem } from '../../../harness/systems/index.ts';

const scenarios = await select({ patterns: ['scenarios/gpuaas'] });
const system = await loadSystem('gpuaas');
const node = {
  lifeline: { kind: 'docker', container: 'n' },
  agent: { unit: 'agent.service', user: 'agent' },
  own: { allocation: 'a', allocationUser: 'u-a' },
};

function budgetsOf(scenario: Scenario, environment: string) {
  const profile = profileSchema.parse({
    ...{
      version: 2,
      system: 'gpuaas',
      stack: 's',
      disposable: true,
      environment,
      policies: loadPolicies(environment),
    },
    ...{
      nodes: { 'node-1': node },
      endpoints: { api: 'https://api.test', terminal: 'https://terminal.test' },
    },
  });
  return planScenario(scenario, profile, system).run.budgets;
}

/** Seed 001's operational budgets, and its row "Terminal node stream never connects". */
const promised = ({ record }: Scenario): number =>
  record.scenario.startsWith('terminal/')
    ? 30_000
    : { P0: 60_000, P1: 300_000, P2: 1_800_000, P3: 1_800_000 }[record.severity];

describe.each(['fast', 'seed-defaults'])('on %s', (environment) => {
  it.each(scenarios.map((scenario) => [scenario.record.scenario, scenario] as const))(
    '%s keeps the seeds’ budget',
    (_, scenario) => {
      const budgets = budgetsOf(scenario, environment);
      expect(budgets.limit_ms).toBe(promised(scenario));
      expect(budgets.detect_ms).toBeGreaterThan(0);
      expect(budgets.detect_ms).toBeLessThanOrEqual(promised(scenario));
      expect(budgets.user_ms).toBeLessThanOrEqual(promised(scenario));
    },
  );

  it('leaves time for a login before the slowest dial of a node', () => {
    const policies = loadPolicies(environment);
    expect(visitSeconds(policies)).toBeLessThan(30);
    expect(terminalDialSeconds(policies)).toBeGreaterThan(
      policies['terminal.node_stream_timeout_seconds'],
    );
  });
});

it('a state that changes waits for the stale window, a terminal that does not open does not', () => {
  const named = (name: string) => scenarios.find(({ record }) => record.scenario === name)!;
  expect(budgetsOf(named('node-agent/service-stopped'), 'seed-defaults')).toMatchObject({
    detect_ms: 155_000,
    user_ms: 185_000,
  });
  expect(budgetsOf(named('terminal/redis-unavailable'), 'seed-defaults')).toMatchObject({
    detect_ms: 30_000,
    user_ms: 30_000,
  });
  expect(budgetsOf(named('terminal/redis-unavailable'), 'fast')).toMatchObject({
    detect_ms: 12_000,
    user_ms: 12_000,
  });
});

it('a file may tighten its budget and never widen it', () => {
  const [scenario] = scenarios.filter(
    ({ record }) => record.scenario === 'node-agent/service-stopped',
  );
  const within = (text: string): Scenario => ({
    ...scenario!,
    record: { ...scenario!.record, expect: { ...scenario!.record.expect, within: text } },
  });
  expect(budgetsOf(within('9s'), 'fast')).toMatchObject({ detect_ms: 9000, limit_ms: 9000 });
  expect(budgetsOf(within('2h'), 'fast')).toMatchObject({ detect_ms: 12_500, limit_ms: 1_800_000 });
});
