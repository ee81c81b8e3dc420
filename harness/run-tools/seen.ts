import type { PreflightReport } from '../records/preflight.ts';
import type { Check, Seen } from '../records/run-record.ts';

/** A preflight as the record keeps it. */
export function seenOf(report: PreflightReport): Seen {
  return {
    at: report.started_at,
    result: report.result,
    hop: report.hop,
    signal: report.signal,
    cause: report.cause,
    confidence: report.confidence,
    confidence_because: report.confidence_because,
    also_failing: report.also_failing.map((one) => one.hop),
    because: [
      ...report.inconclusive_because,
      ...(report.error === null ? [] : [report.error.message]),
    ],
    duration_ms: report.duration_ms,
  };
}

export function wordsOf(seen: Seen): string {
  if (seen.result === 'failed')
    return [seen.hop, seen.signal, seen.cause, seen.confidence === 'low' ? 'unsure' : null]
      .filter((word) => word !== null)
      .join(' / ');
  return seen.result === 'healthy' ? 'healthy' : `inconclusive (${seen.because.join('; ')})`;
}

export function checkWords(checks: readonly Check[]): string {
  return checks
    .map(({ name, ok, detail }) => {
      const answer = ok === true ? 'yes' : ok === false ? 'no' : 'unknown';
      return `${name}: ${answer} (${detail})`;
    })
    .join('; ');
}
