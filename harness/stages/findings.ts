import type { PreflightReport } from '../records/preflight.ts';
import type { Check, Observation } from '../records/run-record.ts';
import type { Scenario } from '../records/scenario.ts';
import type { TimelineEntry } from '../records/timeline.ts';
import type { VerdictRecord } from '../records/verdict.ts';
import type { AuditEnd, WriteAudit } from './audit.ts';
import type { GuardBroken } from './guards.ts';
import type { Watch } from './invariants.ts';
import type { Recovery } from './recover.ts';

/** What a run has found so far; each stage fills in its own part. */
export interface RunFindings {
  judged: VerdictRecord;
  effect: Check[];
  observation: Observation | null;
  report: PreflightReport | null;
  invariants: Check[];
  repairs: Check[];
  readback: Check[];
  recovery: Recovery | null;
  audit: AuditEnd | null;
  evidence: Check[];
  events: TimelineEntry[];
  differences: string[];
  /** The guard that ended the run. */
  guard: GuardBroken | null;
  watch?: Watch;
  writes?: WriteAudit | undefined;
  prepared: boolean;
  injected: boolean;
}

/** Starts as a failure of ours: a stage that is never reached can never look like a success. */
export function emptyFindings(): RunFindings {
  const nothing: VerdictRecord = {
    verdict: 'inconclusive',
    reasons: [{ field: 'run', expected: 'a judgement', observed: 'none was reached' }],
  };
  return {
    judged: nothing,
    effect: [],
    observation: null,
    report: null,
    invariants: [],
    repairs: [],
    readback: [],
    recovery: null,
    audit: null,
    evidence: [],
    events: [],
    differences: [],
    guard: null,
    prepared: false,
    injected: false,
  };
}

export function refused(
  scenario: Scenario,
  refusals: readonly string[],
  leftovers: readonly string[] = [],
): RunFindings {
  const reasons = refusals.map((text) => ({
    field: 'plan',
    expected: 'nothing that refuses it',
    observed: text,
    at: scenario.file,
  }));
  const readback = leftovers.map((detail) => ({
    name: 'left by an earlier run',
    ok: false,
    detail,
  }));
  return { ...emptyFindings(), judged: { verdict: 'aborted', reasons }, readback };
}
