import { type EndingSignal, exitCodes, exitOfSignal } from '../records/exit-codes.ts';
import {
  type Check,
  type Observation,
  type RunRecord,
  unseenWords,
} from '../records/run-record.ts';
import { at, type Scenario } from '../records/scenario.ts';
import type { Reason, Verdict } from '../records/verdict.ts';
import type { GuardBroken } from './guards.ts';
import { worst } from './judge.ts';
import { reason } from './reasons.ts';

/** Everything that a run found, made into its one verdict. `dirty` outranks all others. */
export interface Findings {
  readonly scenario: Scenario;
  readonly judged: { verdict: Verdict; reasons: readonly Reason[] };
  readonly repairs: readonly Check[];
  readonly readback: readonly Check[];
  readonly proofs: readonly Check[];
  readonly recovered: boolean | null;
  readonly audit: (NonNullable<RunRecord['audit']> & { readonly problem: string | null }) | null;
  readonly auditMode: 'watched' | 'declared_unwatched' | 'unwatched';
  /** What the catalogue demands and nothing shows. */
  readonly missing?: readonly { text: string; path: string; because: string }[];
  readonly differences: readonly string[];
  readonly interrupted: EndingSignal | null;
  readonly guard?: Pick<GuardBroken, 'guard' | 'expected' | 'observed'> | null;
}

export interface Conclusion {
  readonly verdict: Verdict;
  readonly reasons: Reason[];
  readonly leftovers: string[];
  readonly exitCode: number;
}

export function conclude(found: Findings): Conclusion {
  const { scenario } = found;
  // What an interrupted run saw by then is in its folder; it is no judgement.
  const guard = found.guard ?? null;
  const whole = found.interrupted === null && guard === null;
  const reasons: Reason[] = whole ? [...found.judged.reasons] : [];
  const verdicts: Verdict[] = whole ? [found.judged.verdict] : [];
  const add = (verdict: Verdict, ...more: Reason[]): void => {
    verdicts.push(verdict);
    reasons.push(...more);
  };
  // Only a pass needs proof; what already is none has a reason that matters more.
  for (const one of whole && found.judged.verdict === 'pass' ? (found.missing ?? []) : [])
    add('fail', reason(scenario, one.path, 'evidence', one.text, `missing: ${one.because}`));
  for (const repair of found.repairs.filter((one) => one.ok === false))
    add('fail', reason(scenario, 'repair', 'repair', `${repair.name} succeeds`, repair.detail));
  for (const proof of found.recovered === false
    ? found.proofs.filter((one) => one.ok !== true)
    : []) {
    add(
      'fail',
      reason(scenario, proofPath(scenario, proof.name), 'recover', proof.name, proof.detail),
    );
  }
  for (const [verdict, why] of auditReasons(found)) add(verdict, why);
  if (found.differences.length > 0)
    add(
      'fail',
      reason(scenario, 'faults', 'executed actions', 'as planned', found.differences.join('; ')),
    );
  const left = found.readback.filter((one) => one.ok !== true);
  const leftovers = left.map((one) => `${one.name}: ${one.detail}`);
  if (left.length > 0) {
    add('dirty', {
      field: 'readback',
      expected: 'everything as it was before',
      observed: leftovers.join('; '),
      at: at(scenario, 'faults'),
    });
    leftovers.push('to remove it: ./hopdrill undo');
  }
  if (found.interrupted !== null)
    add('aborted', {
      field: 'run',
      expected: 'to its end',
      observed: `interrupted by ${found.interrupted}`,
    });
  if (guard !== null)
    add('aborted', {
      field: `guard ${guard.guard}`,
      expected: guard.expected,
      observed: guard.observed,
    });
  const verdict = worst(verdicts);
  return { verdict, reasons, leftovers, exitCode: codeOf(verdict, found.interrupted) };
}

/** What the write audit found; a run whose writes nobody saw to the end cannot pass. */
function auditReasons({ scenario, audit, auditMode, recovered }: Findings): [Verdict, Reason][] {
  const about = (expected: string, observed: string): Reason =>
    reason(scenario, 'expect.never', 'database', expected, observed);
  const reasons: [Verdict, Reason][] = [];
  if (audit !== null && audit.edits.length > 0)
    reasons.push(['fail', about('not edited', audit.edits.join('; '))]);
  if (auditMode !== 'declared_unwatched' && audit?.watched !== true && recovered !== null) {
    const unwatched = 'not audited: the profile names no database to watch';
    reasons.push(['inconclusive', about('audited', audit?.problem ?? unwatched)]);
  }
  return reasons;
}

export function codeOf(verdict: Verdict, interrupted: EndingSignal | null): number {
  if (verdict === 'dirty') return exitCodes.dirty;
  if (interrupted !== null) return exitOfSignal[interrupted];
  return exitCodes[verdict];
}

function proofPath(scenario: Scenario, name: string): string {
  return `recover.proof.${scenario.record.recover.proof.indexOf(name)}`;
}

/** One paragraph for people, the first thing to read in a run folder. */
export function summaryText(record: RunRecord): string {
  const seen = record.observation?.judged;
  const lines = [
    `${record.verdict.toUpperCase()}  ${record.scenario}  (${(record.duration_ms / 1000).toFixed(1)} s)`,
    record.title,
    '',
    `expected  ${[record.expected.hop, record.expected.signal, record.expected.cause].filter((one) => one !== null).join(' / ')}`,
    `observed  ${seen == null ? lastWords(record.observation) : [seen.hop, seen.signal, seen.cause].filter((one) => one !== null).join(' / ')}`,
    `user      ${record.observation?.user === null || record.observation === null ? 'not asked' : userWords(record.observation)}`,
    ...unseenLines(record.observation),
    `recovered ${record.recovered_after_ms === null ? 'no' : `after ${(record.recovered_after_ms / 1000).toFixed(1)} s`}`,
    ...record.reasons.map(
      (one) =>
        `reason    ${one.at === undefined ? '' : `${one.at}: `}${one.field}: expected ${one.expected}, observed ${one.observed}`,
    ),
    ...record.leftovers.map((left) => `left      ${left}`),
  ];
  return `${lines.join('\n')}\n`;
}

function lastWords(observation: Observation | null): string {
  const last = observation?.preflights.at(-1);
  return last === undefined ? 'nothing' : last.result === 'healthy' ? 'healthy' : last.result;
}

function unseenLines(observation: Observation | null): string[] {
  const unseen = observation?.user?.page_unseen ?? null;
  return unseen === null
    ? []
    : [`not seen  ${unseenWords(unseen)}${unseen.declared ? ' (declared in the profile)' : ''}`];
}

function userWords(observation: Observation): string {
  const { user } = observation;
  return [user?.state, user?.access === null ? null : `access ${user?.access}`, user?.message]
    .filter((one) => one != null)
    .join(', ');
}
