// All pairs of the scenarios' faults as data, through the causal rule; six of them are also acted
// out (tests/prove/pairs.test.ts).
import { describe, expect, it } from 'vitest';
import { select } from '../../../harness/cli/select.ts';
import { attribute } from '../../../harness/preflight/attribution.ts';
import {
  allPairs,
  expectedOf,
  hopOf,
  judgedOf,
  merged,
  situationOf,
} from '../support/proof-pairs.ts';

const scenarios = await select({ patterns: ['scenarios/gpuaas'] });
const pairs = allPairs(scenarios);

describe('two faults of scenarios at once', () => {
  it('are all pairs that may be combined', () => {
    const failing = scenarios.filter((scenario) => hopOf(scenario) !== 'none').length;
    expect(new Set(pairs.map((pair) => pair.name)).size).toBe(pairs.length);
    // Refused: the two egress blocks, full disk with either PTY fault, those two together, stale CA
    // (alone and attached) with broken DNS and with itself, no route with Redis stopped.
    expect(pairs.length).toBe((failing * (failing - 1)) / 2 - 8);
  });

  it.each(
    scenarios
      .filter((scenario) => hopOf(scenario) !== 'none')
      .map((scenario) => [scenario.record.scenario, scenario] as const),
  )('%s acts out a situation of the table', (_, scenario) => {
    const { hop, signal } = scenario.record.expect;
    expect(situationOf(scenario).pin).toMatchObject({ hop, signal });
  });

  for (const pair of pairs) {
    it(pair.name, () => {
      const wanted = expectedOf(pair);
      const { failed, alsoFailing } = attribute(judgedOf(merged(pair)));
      expect({ failed, alsoFailing }).toEqual({ failed: wanted.hop, alsoFailing: wanted.also });
      // Once the first is repaired, what is left is the other alone.
      expect(attribute(judgedOf(situationOf(wanted.thenNamed).late)).failed).toBe(
        hopOf(wanted.thenNamed),
      );
    });
  }
});
