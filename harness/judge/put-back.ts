import type { StageName } from '../records/events.ts';
import { placeOf } from '../records/expectation.ts';
import type { UnjudgedRun } from '../records/run-record.ts';
import type { Reason } from '../records/verdict.ts';
import { type Finding, reason } from './reasons.ts';

/** What became of repair, undo, recovery and the write audit, and what is left on targets. */
export function putBackFindings(run: UnjudgedRun): {
  findings: Finding[];
  leftovers: string[];
} {
  const left = leftOf(run);
  const leftovers = left.length === 0 ? [] : [...left, 'to remove it: ./hopdrill undo'];
  const findings = [
    ...repairFindings(run),
    ...recoveryFindings(run),
    ...auditFindings(run),
    ...differenceFindings(run),
    ...brokenSteps(run),
    ...(left.length === 0 ? [] : [dirty(run, left)]),
  ];
  return { findings, leftovers };
}

function repairFindings({ expectation, repairs }: UnjudgedRun): Finding[] {
  return repairs
    .filter(({ ok }) => ok !== true)
    .map(({ name, ok, detail }) => [
      ok === null ? 'inconclusive' : 'fail',
      reason(expectation, 'repair', 'repair', `${name} succeeds`, detail),
    ]);
}

function recoveryFindings({ expectation, recovery }: UnjudgedRun): Finding[] {
  if (recovery === null || recovery.recovered) return [];
  return recovery.proofs
    .filter(({ ok }) => ok !== true)
    .map(({ name, ok, detail }) => {
      const path = `recover.proof.${expectation.proof.indexOf(name)}`;
      const verdict = ok === null ? 'inconclusive' : 'fail';
      return [verdict, reason(expectation, path, 'recover', name, detail)];
    });
}

/** A run whose writes nobody saw to the end cannot pass; strangers that were seen are named. */
function auditFindings({ expectation, audit, recovery }: UnjudgedRun): Finding[] {
  const about = (expected: string, observed: string): Reason =>
    reason(expectation, 'expect.never', 'database', expected, observed);
  const findings: Finding[] = [];
  if (audit !== null && audit.edits.length > 0)
    findings.push(['fail', about('not edited', audit.edits.join('; '))]);
  if (expectation.audit === 'declared_unwatched' || audit?.watched === true || recovery === null)
    return findings;
  const unwatched = 'not audited: the profile names no database to watch';
  return [...findings, ['inconclusive', about('audited', audit?.problem ?? unwatched)]];
}

function differenceFindings({ expectation, differences }: UnjudgedRun): Finding[] {
  if (differences.length === 0) return [];
  const observed = differences.join('; ');
  return [['fail', reason(expectation, 'faults', 'executed actions', 'as planned', observed)]];
}

/** Recovery and audit are questions: when they break, nobody knows. */
function brokenSteps({ errors }: UnjudgedRun): Finding[] {
  return errors
    .filter(({ stage }) => stage === 'recover' || stage === 'audit')
    .map(({ stage, message }) => [
      'inconclusive',
      { field: stage, expected: 'to its end', observed: message },
    ]);
}

const puttingBack: readonly StageName[] = ['repair', 'readback', 'teardown'];

function leftOf({ refused, readback, errors, teardown }: UnjudgedRun): string[] {
  return [
    ...(refused?.left ?? []).map((detail) => `left by an earlier run: ${detail}`),
    ...readback.filter(({ ok }) => ok !== true).map(({ name, detail }) => `${name}: ${detail}`),
    ...errors
      .filter(({ stage }) => puttingBack.includes(stage))
      .map(({ stage, message }) => `${stage}: ${message}`),
    ...teardown.map((detail) => `at the end: ${detail}`),
  ];
}

function dirty({ expectation }: UnjudgedRun, left: readonly string[]): Finding {
  const expected = 'everything as it was before';
  const at = placeOf(expectation, 'faults');
  return ['dirty', { field: 'readback', expected, observed: left.join('; '), at }];
}
