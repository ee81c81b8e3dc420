// Every scenario must be able to fail: without its fault, without its fault and with a forged
// effect, and with a wrong expectation.
import { describe, expect, test } from 'vitest';
import type { RunRecord } from '../../harness/records/run-record.ts';
import { at, type Scenario } from '../../harness/records/scenario.ts';
import type { Reason } from '../../harness/records/verdict.ts';
import { loadSystem } from '../../harness/systems/index.ts';
import { changed, drill, judgeStored, load, say, seconds } from '../support/proof.ts';

const system = await loadSystem('gpuaas');
const scenarios = await load('scenarios/gpuaas');
const inOrder = [...system.hops]
  .filter((hop) => hop.optional !== true)
  .sort((a, b) => a.order - b.order);

/** The next hop of the chain; the last one's neighbour is the one before it. */
function neighbourHop(hop: string): string {
  const index = inOrder.findIndex((one) => one.id === hop);
  return (inOrder[index + 1] ?? inOrder[index - 1])!.id;
}

/** Another signal of the same hop, else one of its neighbour. */
function neighbourSignal(hop: string, signal: string): string {
  const of = (id: string) => system.hops.find((one) => one.id === id)?.signals ?? [];
  return [...of(hop), ...of(neighbourHop(hop))].find((name) => name !== signal)!;
}

interface Mutation {
  readonly scenario: Scenario;
  readonly reason: Reason;
}

const expecting = (scenario: Scenario, change: Partial<Scenario['record']['expect']>): Scenario =>
  changed(scenario, { expect: { ...scenario.record.expect, ...change } });

/**
 * The one that is run. A green situation has no hop to confuse; its neighbour is another entry of
 * the history.
 */
function first(scenario: Scenario): Mutation {
  const { hop, history } = scenario.record.expect;
  if (hop === 'none') {
    const wrong = 'identity_revoked_or_fenced';
    expect(history).not.toContain(wrong);
    return {
      scenario: expecting(scenario, { history: [wrong] }),
      reason: {
        field: 'history',
        expected: wrong,
        observed: '',
        at: at(scenario, 'expect.history'),
      },
    };
  }
  const wrong = neighbourHop(hop);
  return {
    scenario: expecting(scenario, { hop: wrong }),
    reason: { field: 'hop', expected: wrong, observed: hop, at: at(scenario, 'expect.hop') },
  };
}

/** The one that is judged from what the first one stored. */
function second(scenario: Scenario): Mutation {
  const { hop, signal, result } = scenario.record.expect;
  if (hop === 'none') {
    const wrong = result === 'healthy' ? 'inconclusive' : 'healthy';
    return {
      scenario: expecting(scenario, { result: wrong }),
      reason: {
        field: 'result',
        expected: wrong,
        observed: result!,
        at: at(scenario, 'expect.result'),
      },
    };
  }
  const wrong = neighbourSignal(hop, signal!);
  return {
    scenario: expecting(scenario, { signal: wrong }),
    reason: {
      field: 'signal',
      expected: wrong,
      observed: signal!,
      at: at(scenario, 'expect.signal'),
    },
  };
}

/**
 * A control without a fault: what is proved of recovery besides green is the business of the runs
 * that break something.
 */
const unbroken = (scenario: Scenario): Scenario =>
  changed(scenario, { recover: { ...scenario.record.recover, proof: ['preflight-green'] } });

/**
 * Only what the preflight says: a user who sees nothing wrong would be waited for a whole budget
 * more.
 */
function preflightAlone(scenario: Scenario): Scenario {
  const { user: _, ...expect } = scenario.record.expect;
  return changed(scenario, { expect });
}

/** Whatever a control does, it leaves a platform that is green and that nobody else wrote to. */
function recovered(run: RunRecord): void {
  expect(run.readback.filter((check) => check.ok !== true)).toEqual([]);
  expect(run.leftovers).toEqual([]);
  expect(run.recovered_after_ms, JSON.stringify(run.proofs)).not.toBeNull();
  expect(run.proofs.filter((proof) => proof.ok !== true)).toEqual([]);
  expect(run.audit).toEqual({ watched: true, until: null, edits: [] });
}

const spent: Record<string, number> = {};
function tell(what: string, run: RunRecord): void {
  spent[what] = (spent[what] ?? 0) + run.duration_ms;
  const observe = run.stages.find((stage) => stage.stage === 'observe');
  say(
    `${what.padEnd(18)} ${seconds(run.duration_ms)}${observe === undefined ? '' : ` (observed ${seconds(observe.duration_ms)})`}`,
  );
}

test('all scenarios are here', () => {
  expect(scenarios.length).toBeGreaterThanOrEqual(16);
});

describe.for(scenarios.map((scenario) => [scenario.record.scenario, scenario] as const))(
  '%s',
  ([, scenario]) => {
    const green = scenario.record.expect.hop === 'none';

    test('the fault is left out: inconclusive', async () => {
      const run = await drill(unbroken(scenario), { withoutInjection: true });
      tell('without fault', run);
      expect(run.verdict, JSON.stringify(run.reasons)).toBe('inconclusive');
      expect(run.reasons.length).toBe(run.effect.length);
      expect(
        run.reasons.every(
          (reason) => reason.field.startsWith('effect of ') && reason.expected === 'active',
        ),
      ).toBe(true);
      expect(run.observation, 'nothing is judged without its effect').toBeNull();
      recovered(run);
    });

    test('the fault is left out and its effect forged: fail, and the preflight is seen healthy', async () => {
      const run = await drill(preflightAlone(unbroken(scenario)), {
        withoutInjection: true,
        forgeEffect: true,
      });
      tell('forged effect', run);
      expect(run.verdict, JSON.stringify(run.reasons)).toBe('fail');
      expect(run.effect.map((check) => check.detail)).toEqual(run.effect.map(() => 'forged'));
      const seen = run.observation?.preflights ?? [];
      expect(seen.length).toBeGreaterThan(0);
      expect(
        seen.filter((preflight) => preflight.result !== 'healthy'),
        'a preflight that was not healthy',
      ).toEqual([]);
      const { hop, history = [] } = scenario.record.expect;
      const missing = green
        ? history.map((wanted) => ({ field: 'history', expected: wanted }))
        : [{ field: 'hop', expected: hop, observed: 'none: the preflight is healthy' }];
      expect(run.reasons).toMatchObject(missing);
      expect(run.reasons).toHaveLength(missing.length);
      recovered(run);
    });

    test('a wrong expectation: fail for that field alone, and recovery succeeds', async () => {
      const wrong = first(scenario);
      const run = await drill(wrong.scenario);
      tell('wrong expectation', run);
      expect(run.verdict, JSON.stringify(run.reasons)).toBe('fail');
      const observed = green
        ? expect.stringContaining(scenario.record.expect.history![0]!)
        : wrong.reason.observed;
      expect(run.reasons).toEqual([{ ...wrong.reason, observed }]);
      expect(run.repairs.filter((check) => check.ok !== true)).toEqual([]);
      recovered(run);
      // From here on nothing is run: the folder is all that there is.
      expect(judgeStored(run.dir, scenario)).toEqual({ verdict: 'pass', reasons: [] });
      const other = second(scenario);
      expect(judgeStored(run.dir, other.scenario)).toEqual({
        verdict: 'fail',
        reasons: [other.reason],
      });
    });
  },
);

test('what it took', () => {
  for (const [what, ms] of Object.entries(spent)) say(`${what.padEnd(18)} ${seconds(ms)} in all`);
});
