// Two faults at once, live: pairs picked with a printed seed. The causal rule says which is
// named first; then the other one is, and both are undone.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { engineId } from '../../../harness/drivers/engine-id.ts';
import { parseArgv } from '../../../harness/preflight/argv.ts';
import { runPreflight } from '../../../harness/preflight/run.ts';
import type { PreflightReport } from '../../../harness/records/preflight.ts';
import type { Scenario } from '../../../harness/records/scenario.ts';
import { seenOf, wordsOf } from '../../../harness/run-tools/seen.ts';
import { loadSystem } from '../../../harness/systems/index.ts';
import { type Engine, openEngine } from '../../../harness/undo/engine.ts';
import { isFinal } from '../../../harness/undo/ledger.ts';
import { lock } from '../../../harness/undo/lock.ts';
import { defaultStateDir } from '../../../harness/undo/paths.ts';
import { planned } from '../support/faults.ts';
import {
  leftOnTargets,
  load,
  profileOfSuite,
  say,
  seconds,
  stackOfSuite,
} from '../support/proof.ts';
import {
  allPairs,
  expectedOf,
  hopOf,
  mayBeGivenUp,
  type Pair,
  sideHop,
} from '../support/proof-pairs.ts';
import { all } from '../support/sampling.ts';

/**
 * Some of them by a seed of their own, which stays: a pair that nobody has seen yet is found with
 * `--all`, or with another seed, and not by who lands something else. What fails is kept below.
 */
const seed = Number(process.env.HOPDRILL_PAIRS_SEED ?? 20_260_525);
const wanted = Number(process.env.HOPDRILL_PAIRS ?? 3);
/** Pairs that once failed, by name. */
const kept: readonly string[] = [
  'node-agent/cert-expired-no-token + node-agent/ops-ssh-refused',
  'node-agent/service-stopped + node-agent/ops-ssh-refused',
  'node-agent/api-egress-rejected + node-agent/stale-trust-bundle',
];

const system = await loadSystem('gpuaas');
const profile = profileOfSuite();
const pairs = allPairs(await load('scenarios/gpuaas'));
const [sampled = []] = fc.sample(fc.subarray(pairs, { minLength: wanted, maxLength: wanted }), {
  seed,
  numRuns: 1,
});
const chosen = all
  ? pairs
  : [...new Set([...pairs.filter((pair) => kept.includes(pair.name)), ...sampled])];
const node = 'node-1';

const within = (scenario: Scenario): number =>
  1000 * (system.signals[scenario.record.expect.signal!]?.within(profile.policies) ?? 15);
/** What a node needs until the platform sees it as back. */
const settleMs = 1000 * (20 + 2 * (profile.policies['node.heartbeat_stale_after_seconds'] ?? 6));

async function preflight(pair: Pair): Promise<PreflightReport> {
  const flags = [...new Set([...pair.first.record.preflight, ...pair.second.record.preflight])];
  const parsed = parseArgv(system, [...system.argv(profile, node), ...flags]);
  if (!parsed.ok) throw new Error(parsed.errors.join('; '));
  return runPreflight(system, parsed.request);
}

/** Asks until it is so; gives what was said last, so that a failed expectation shows it. */
async function until(
  pair: Pair,
  ms: number,
  holds: (report: PreflightReport) => boolean,
): Promise<PreflightReport> {
  const end = performance.now() + ms;
  for (;;) {
    const report = await preflight(pair);
    if (holds(report) || performance.now() > end) return report;
    await new Promise((resolve) => setTimeout(resolve, 300));
  }
}

const words = (report: PreflightReport): string =>
  `${wordsOf(seenOf(report))}${report.also_failing.map((one) => ` + ${one.hop}`).join('')}`;

/**
 * The later in the chain first, each seen at once: with the earlier one in, nothing may get through
 * to look at the later.
 */
async function breakBoth(engine: Engine, count: number): Promise<void> {
  for (let index = count - 1; index >= 0; index -= 1) {
    await engine.inject(index);
    await expect
      .poll(async () => (await engine.isActive(index)).active, { timeout: 20_000, interval: 200 })
      .toBe(true);
  }
}

async function backAgain(engine: Engine, indexes: readonly number[]): Promise<void> {
  for (const index of indexes.toReversed()) {
    await engine.undo(index);
    const { state, detail } = await engine.verify(index);
    expect(isFinal(state), `${state}: ${detail}`).toBe(true);
  }
}

/** Two faults of one hop: the one that it did not name is the one that is left. */
function orderOf(pair: Pair, seen: PreflightReport): { repaired: Scenario; left: Scenario } {
  const { repairFirst, thenNamed } = expectedOf(pair);
  const swapped =
    hopOf(repairFirst) === hopOf(thenNamed) &&
    seen.cause === thenNamed.record.expect.cause &&
    seen.cause !== repairFirst.record.expect.cause;
  return swapped
    ? { repaired: thenNamed, left: repairFirst }
    : { repaired: repairFirst, left: thenNamed };
}

test.for(chosen.map((pair) => [pair.name, pair] as const))('%s', async ([name, pair]) => {
  const runId = `rpair-${process.pid}-${pairs.indexOf(pair)}`;
  const faults = [pair.first, pair.second].map((scenario) =>
    scenario.record.faults.flatMap((entry) => Object.entries(entry)),
  );
  const plans = faults.flat().map(([fault, params]) => planned(fault, params, profile, node));
  const indexesOf = (scenario: Scenario): number[] =>
    scenario === pair.first
      ? [...faults[0]!.keys()]
      : [...faults[1]!.keys()].map((index) => index + faults[0]!.length);
  const before = await until(pair, settleMs, (report) => report.result === 'healthy');
  expect(before.result, words(before)).toBe('healthy');
  const held = lock(stackOfSuite(), {
    stateDir: defaultStateDir(),
    engine: await engineId(),
    run: runId,
  });
  const engine = await openEngine({ profile, runId });
  const expected = expectedOf(pair);
  const started = performance.now();
  try {
    await engine.prepare(plans);
    await breakBoth(engine, plans.length);
    // Judged after the longer of the two times: what comes late belongs to it.
    await new Promise((resolve) =>
      setTimeout(resolve, Math.max(within(pair.first), within(pair.second))),
    );
    const both = await preflight(pair);
    say(`${name}: ${words(both)}`);
    const also = both.also_failing.map((one) => one.hop);
    const wanted = expected.also.filter((hop) => also.includes(hop) || !mayBeGivenUp(pair, hop));
    expect({ hop: both.hop, also }).toEqual({ hop: expected.hop, also: wanted });
    const { repaired, left } = orderOf(pair, both);
    if (both.hop === hopOf(repaired)) {
      const { signal, cause } = repaired.record.expect;
      // Without a way in the finer cause may lie on the node, where nobody can read it.
      expect(both).toMatchObject({
        signal,
        ...(cause !== undefined && hopOf(left) !== sideHop && { cause }),
      });
    }

    await backAgain(engine, indexesOf(repaired));
    const { hop, signal, cause } = left.record.expect;
    const rest = { hop, signal, also_failing: [], ...(cause !== undefined && { cause }) };
    const isRest = (report: PreflightReport): boolean =>
      report.hop === hop &&
      report.signal === signal &&
      (cause === undefined || report.cause === cause) &&
      report.also_failing.length === 0;
    const other = await until(pair, within(left) + settleMs, isRest);
    say(`  then ${words(other)}`);
    expect(other).toMatchObject(rest);

    await backAgain(engine, indexesOf(left));
  } finally {
    for (const index of [...engine.steps.keys()].toReversed()) {
      await engine.undo(index).catch(() => {});
      await engine.verify(index).catch(() => {});
    }
    const { unproven } = await engine.close();
    held.release();
    expect(unproven).toEqual([]);
  }
  expect(await leftOnTargets()).toEqual([]);
  const after = await until(pair, settleMs, (report) => report.result === 'healthy');
  expect(after.result, words(after)).toBe('healthy');
  say(`  both undone, green after ${seconds(performance.now() - started)}`);
});

test('the seed is told', () => {
  say(
    `HOPDRILL_PAIRS_SEED=${seed}: ${sampled.length} of ${pairs.length} pairs, ${kept.length} kept`,
  );
  expect(sampled).toHaveLength(wanted);
});
