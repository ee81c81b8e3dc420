import type { Expectation } from '../records/expectation.ts';
import type { Observation } from '../records/run-record.ts';
import type { Reason } from '../records/verdict.ts';
import { late, reason } from './reasons.ts';
import { unread } from './unread.ts';

/** What the preflight named, against the hop, signal and cause that the file expects. */
export function preflightReasons(expectation: Expectation, observation: Observation): Reason[] {
  const { hop, signal, cause, confidence, also = [] } = expectation.expect;
  if (hop === 'none') return greenReasons(expectation, observation);
  const because = (field: string, wanted: string, observed: string): Reason =>
    reason(expectation, `expect.${field}`, field, wanted, observed);
  const named = observation.judged;
  if (named === null) return [because('hop', hop, 'none: the preflight is healthy')];
  const reasons = late(expectation, 'within', observation.detected_after_ms, observation.limit_ms);
  if (named.hop !== hop) reasons.push(because('hop', hop, named.hop ?? 'none'));
  if (signal !== undefined && named.signal !== signal)
    reasons.push(because('signal', signal, named.signal ?? 'none'));
  if (cause !== undefined && named.cause !== cause)
    reasons.push(because('cause', cause, named.cause ?? 'none'));
  if (named.confidence !== confidence) {
    const why = named.confidence_because.join('; ');
    reasons.push(
      because('confidence', confidence, `${named.confidence}${why === '' ? '' : `: ${why}`}`),
    );
  }
  const blamed = named.also_failing.filter((one) => !also.includes(one));
  if (blamed.length > 0) {
    const allowed = also.join(', ') || 'none';
    reasons.push(reason(expectation, 'expect.also', 'also_failing', allowed, blamed.join(', ')));
  }
  return reasons;
}

/**
 * Situations that stay green: the expected result, no alarm at any time, and the platform's own
 * record that something happened.
 */
function greenReasons(expectation: Expectation, observation: Observation): Reason[] {
  const { preflights, history } = observation;
  const { result, also = [], history: wanted = [] } = expectation.expect;
  const reasons: Reason[] = [];
  const last = preflights.at(-1);
  const alarm = preflights.find((one) => one.result === 'failed' && !also.includes(one.hop ?? ''));
  if (alarm !== undefined) {
    const observed = `${alarm.hop} (${alarm.signal}, ${alarm.cause})`;
    reasons.push(reason(expectation, 'expect.hop', 'hop', 'none', observed));
  } else if (result !== undefined && last?.result !== result) {
    const observed = last?.result ?? 'no preflight';
    reasons.push(reason(expectation, 'expect.result', 'result', result, observed));
  }
  const recorded = [...new Set(history)].join(', ') || 'nothing';
  if (unread(observation, 'history') !== undefined) return reasons;
  for (const kind of wanted)
    if (!history.includes(kind))
      reasons.push(reason(expectation, 'expect.history', 'history', kind, recorded));
  return reasons;
}

/** Why the preflights of the window say nothing about the platform; null when they do. */
export function onlyInconclusive(
  expectation: Expectation,
  { judged, preflights }: Observation,
): Reason | null {
  if (expectation.expect.hop === 'none' || judged !== null) return null;
  if (preflights.at(-1)?.result !== 'inconclusive') return null;
  const because = [...new Set(preflights.flatMap((one) => one.because))].join('; ');
  const observed = `inconclusive: ${because}`;
  return reason(expectation, 'expect.hop', 'preflight', 'a classified one', observed);
}
