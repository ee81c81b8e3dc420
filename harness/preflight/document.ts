// The one JSON document of a preflight. There is one on every way out: result, usage error, signal,
// deadline, our own mistake.
import { randomBytes } from 'node:crypto';
import { exitCodes } from '../records/exit-codes.ts';
import type { HopReport, PreflightReport } from '../records/preflight.ts';
import { adviceOn } from './advice.ts';
import type { Attribution } from './attribution.ts';
import type { AnySystem, Conclusion, Request } from './types.ts';
import type { Walked } from './walk.ts';

export const version = '0.1.0';
export const newId = (prefix: string): string => `${prefix}-${randomBytes(8).toString('hex')}`;

export interface Whole {
  readonly request: Request;
  readonly runId: string;
  readonly correlationId: string;
  readonly startedAt: Date;
  readonly durationMs: number;
  readonly walked: readonly Walked[];
  readonly attribution: Attribution;
  readonly conclusion: Conclusion;
  readonly error: PreflightReport['error'];
}

const round = (ms: number): number => Math.round(ms * 10) / 10;

function hopReport(walked: Walked, attribution: Attribution): HopReport {
  const { hop, finding } = walked;
  const failing = finding?.status === 'fail';
  const explained = attribution.explainedBy.get(hop.id) ?? null;
  const root = failing && explained === null;
  return {
    id: hop.id,
    order: hop.order,
    status: finding?.status ?? 'not_run',
    signal: failing ? (finding.signal ?? null) : null,
    cause: finding?.cause ?? null,
    blames: failing ? (finding.blames ?? null) : null,
    summary: finding?.summary ?? 'not run',
    skipped_because: finding?.status === 'skipped' ? finding.summary : null,
    depends_on: [...hop.after],
    vantage: finding?.vantage ?? hop.vantage,
    target: finding?.target ?? null,
    started_ms: round(walked.startedMs),
    duration_ms: round(walked.durationMs),
    deadline_ms: round(walked.deadlineMs),
    steps: [...(finding?.steps ?? [])],
    evidence: [...(finding?.evidence ?? [])],
    ruled_out: [...(finding?.ruledOut ?? [])],
    explained_by: explained,
    confidence: root ? (attribution.lowConfidence.has(hop.id) ? 'low' : 'high') : null,
    confidence_because: root ? [...(attribution.lowConfidence.get(hop.id) ?? [])] : [],
    hint: finding?.hint ?? null,
  };
}

/**
 * What the hops that passed say about other explanations of the failure, beside what its own probe
 * measured.
 */
function ruledOut(
  failed: HopReport | undefined,
  hops: readonly HopReport[],
): PreflightReport['ruled_out'] {
  if (!failed) return [];
  const passed = hops.filter((hop) => hop.status === 'pass' && hop.id !== failed.id);
  return [...failed.ruled_out, ...passed.map((hop) => ({ what: hop.id, because: hop.summary }))];
}

/**
 * What a report lacks to be one of all hops, for want of input or because fewer were asked for;
 * null when it is whole.
 */
export function missingWords(system: AnySystem, hops: readonly HopReport[]): string | null {
  const needed = hops.filter(
    ({ id }) => system.hops.find((one) => one.id === id)?.optional !== true,
  );
  const named = (status: HopReport['status']) =>
    needed.flatMap((hop) => (hop.status === status ? [hop.id] : [])).join(', ');
  const words = [
    ['skipped for want of input', named('skipped')],
    ['not asked', named('not_run')],
  ].flatMap(([why, ids]) => (ids === '' ? [] : [`${why} ${ids}`]));
  return words.length === 0 ? null : words.join('; ');
}

export function reportOf(system: AnySystem, whole: Whole): PreflightReport {
  const { attribution, conclusion, request } = whole;
  const hops = whole.walked.map((walked) => hopReport(walked, attribution));
  const failed = hops.find((hop) => hop.id === attribution.failed);
  const signal = failed?.signal ? system.signals[failed.signal] : undefined;
  const advice = signal === undefined ? null : adviceOn(signal, failed?.cause ?? null);
  const missing = missingWords(system, hops);
  const because = [...attribution.inconclusiveBecause];
  if (!failed && missing !== null && request.flags['require-complete'] === true)
    because.push(`${missing} (--require-complete)`);
  if (!failed && whole.error) because.push(whole.error.message);
  // Health is what somebody saw; a run that could ask nothing saw none.
  if (
    !failed &&
    because.length === 0 &&
    !hops.some((hop) => hop.status === 'pass' || hop.status === 'warn')
  )
    because.push('no hop could be asked with the input given');
  return {
    schema_version: 1,
    result: failed ? 'failed' : because.length > 0 ? 'inconclusive' : 'healthy',
    hop: failed?.id ?? null,
    signal: failed?.signal ?? null,
    cause: failed?.cause ?? null,
    confidence: failed?.confidence ?? null,
    confidence_because: failed?.confidence_because ?? [],
    also_failing: hops
      .filter((hop) => attribution.alsoFailing.includes(hop.id))
      .map(({ id, signal, cause }) => ({ hop: id, signal, cause })),
    owner: advice?.owner ?? null,
    recovery: advice && {
      text: failed?.hint ?? advice.next,
      command: advice.command ?? null,
      auto: false,
    },
    doc: failed?.signal ? `hopdrill explain ${failed.signal}` : null,
    ruled_out: ruledOut(failed, hops),
    user_state: conclusion.userState,
    user_access: conclusion.userAccess,
    scope: conclusion.scope,
    partial: missing !== null,
    inconclusive_because: because,
    correlation_id: whole.correlationId,
    run_id: whole.runId,
    started_at: whole.startedAt.toISOString(),
    duration_ms: round(whole.durationMs),
    environment: system.environment(request),
    subject: conclusion.subject,
    proof: conclusion.proof,
    tool: { version, node_version: process.version },
    hops,
    error: whole.error,
  };
}

/** The document when not even the hops could be asked. */
export function errorReport(
  system: AnySystem,
  code: string,
  message: string,
  request: Request = { argv: [], flags: {} },
): PreflightReport {
  const nobody: Conclusion = {
    userState: null,
    userAccess: null,
    scope: null,
    subject: {},
    proof: null,
  };
  const nothing: Attribution = {
    result: 'inconclusive',
    failed: null,
    alsoFailing: [],
    explainedBy: new Map(),
    lowConfidence: new Map(),
    inconclusiveBecause: [],
  };
  return reportOf(system, {
    request,
    runId: newId('run'),
    correlationId: newId('pf'),
    startedAt: new Date(),
    durationMs: 0,
    walked: [],
    attribution: nothing,
    conclusion: nobody,
    error: { code, message },
  });
}

export function exitCodeOf(report: PreflightReport): number {
  switch (report.error?.code) {
    case 'usage':
      return exitCodes.usage;
    case 'internal':
      return exitCodes.internal;
    case 'interrupted':
      return exitCodes.interrupted;
    case 'terminated':
      return exitCodes.terminated;
    default:
      break;
  }
  return report.result === 'healthy'
    ? exitCodes.pass
    : report.result === 'failed'
      ? exitCodes.fail
      : exitCodes.inconclusive;
}
