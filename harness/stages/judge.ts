import type { Check, Observation } from '../records/run-record.ts';
import type { Scenario } from '../records/scenario.ts';
import type { Reason, Verdict, VerdictRecord } from '../records/verdict.ts';
import { unseenReasons, userReasons } from './judge-user.ts';
import { late, reason } from './reasons.ts';

/**
 * Compares what was seen with what the file expects. Pure: the same records give the same reasons,
 * years later.
 */
export interface Judged {
  readonly scenario: Scenario;
  readonly effect: readonly Check[];
  readonly observation: Observation | null;
  readonly invariants: readonly Check[];
}

export function judge({ scenario, effect, observation, invariants }: Judged): VerdictRecord {
  const missing = effect.filter((check) => check.ok !== true);
  if (missing.length > 0) {
    return {
      verdict: 'inconclusive',
      reasons: missing.map((check) =>
        reason(scenario, 'faults', `effect of ${check.name}`, 'active', check.detail),
      ),
    };
  }
  if (observation === null)
    return {
      verdict: 'inconclusive',
      reasons: [reason(scenario, 'faults', 'observation', 'at least one preflight', 'none')],
    };
  const reasons = [
    ...preflightReasons(scenario, observation),
    ...userReasons(scenario, observation),
    ...brokenReasons(scenario, invariants),
  ];
  // A green situation may be over because the platform healed itself: that is what its history
  // proves.
  if (observation.still_active !== true && scenario.record.expect.hop !== 'none') {
    const found =
      observation.still_active === null ? 'could not be read' : 'gone before the run took it back';
    return {
      verdict: 'inconclusive',
      reasons: [reason(scenario, 'faults', 'effect after observing', 'still active', found)],
    };
  }
  if (
    scenario.record.expect.hop !== 'none' &&
    observation.judged === null &&
    onlyInconclusive(observation)
  ) {
    const because = [...new Set(observation.preflights.flatMap((one) => one.because))].join('; ');
    return {
      verdict: 'inconclusive',
      reasons: [
        reason(scenario, 'expect.hop', 'preflight', 'a classified one', `inconclusive: ${because}`),
      ],
    };
  }
  const unknown = [...unseenReasons(scenario, observation), ...unreadReasons(scenario, invariants)];
  return {
    verdict: reasons.length > 0 ? 'fail' : unknown.length > 0 ? 'inconclusive' : 'pass',
    reasons: [...reasons, ...unknown],
  };
}

function preflightReasons(scenario: Scenario, observation: Observation): Reason[] {
  const { expect } = scenario.record;
  if (expect.hop === 'none') return greenReasons(scenario, observation);
  const seen = observation.judged;
  if (seen === null)
    return [reason(scenario, 'expect.hop', 'hop', expect.hop, 'none: the preflight is healthy')];
  const reasons: Reason[] = late(
    scenario,
    'within',
    observation.detected_after_ms,
    observation.limit_ms,
  );
  if (seen.hop !== expect.hop)
    reasons.push(reason(scenario, 'expect.hop', 'hop', expect.hop, seen.hop ?? 'none'));
  if (expect.signal !== undefined && seen.signal !== expect.signal) {
    reasons.push(reason(scenario, 'expect.signal', 'signal', expect.signal, seen.signal ?? 'none'));
  }
  if (expect.cause !== undefined && seen.cause !== expect.cause) {
    reasons.push(reason(scenario, 'expect.cause', 'cause', expect.cause, seen.cause ?? 'none'));
  }
  const blamed = seen.also_failing.filter((hop) => !(expect.also ?? []).includes(hop));
  if (blamed.length > 0)
    reasons.push(
      reason(
        scenario,
        'expect.also',
        'also_failing',
        (expect.also ?? []).join(', ') || 'none',
        blamed.join(', '),
      ),
    );
  return reasons;
}

/**
 * Situations that stay green: the wanted result, no alarm at any time, and the platform's own
 * record that something happened.
 */
function greenReasons(scenario: Scenario, observation: Observation): Reason[] {
  const { expect } = scenario.record;
  const reasons: Reason[] = [];
  const last = observation.preflights.at(-1);
  const alarm = observation.preflights.find(
    (one) => one.result === 'failed' && !(expect.also ?? []).includes(one.hop ?? ''),
  );
  if (alarm !== undefined)
    reasons.push(
      reason(
        scenario,
        'expect.hop',
        'hop',
        'none',
        `${alarm.hop} (${alarm.signal}, ${alarm.cause})`,
      ),
    );
  else if (expect.result !== undefined && last?.result !== expect.result) {
    reasons.push(
      reason(scenario, 'expect.result', 'result', expect.result, last?.result ?? 'no preflight'),
    );
  }
  for (const wanted of expect.history ?? []) {
    if (!observation.history.some((kind) => kind === wanted)) {
      reasons.push(
        reason(
          scenario,
          'expect.history',
          'history',
          wanted,
          [...new Set(observation.history)].join(', ') || 'nothing',
        ),
      );
    }
  }
  return reasons;
}

function brokenReasons(scenario: Scenario, invariants: readonly Check[]): Reason[] {
  return invariants
    .filter((check) => check.ok === false)
    .map((check) => neverReason(scenario, check, `not ${check.name}`));
}

/** What was never read cannot be said to have held. */
function unreadReasons(scenario: Scenario, invariants: readonly Check[]): Reason[] {
  return invariants
    .filter((check) => check.ok === null)
    .map((check) => neverReason(scenario, check, `${check.name} to be read`));
}

const neverReason = (scenario: Scenario, { name, detail }: Check, expected: string): Reason =>
  reason(
    scenario,
    `expect.never.${scenario.record.expect.never.indexOf(name)}`,
    'never',
    expected,
    detail,
  );

function onlyInconclusive(observation: Observation): boolean {
  const last = observation.preflights.at(-1);
  return last !== undefined && last.result === 'inconclusive';
}

/**
 * `dirty` outranks all; then what ended the run, then what is known to be wrong, then what is not
 * known.
 */
const rank: readonly Verdict[] = ['pass', 'inconclusive', 'fail', 'aborted', 'dirty'];

export function worst(list: readonly Verdict[]): Verdict {
  return list.reduce<Verdict>((a, b) => (rank.indexOf(b) > rank.indexOf(a) ? b : a), 'pass');
}
