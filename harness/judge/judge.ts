import { type StageName, stageNames } from '../records/events.ts';
import type { Check, UnjudgedRun } from '../records/run-record.ts';
import { type Reason, type Verdict, worst } from '../records/verdict.ts';
import { onlyInconclusive, preflightReasons } from './preflight.ts';
import { putBackFindings } from './put-back.ts';
import { type Finding, reason } from './reasons.ts';
import { unreadReasons } from './unread.ts';
import { unseenReasons, userReasons } from './user.ts';

/**
 * The verdict of a run, from its record alone: the same record gives the same verdict and reasons
 * on any machine, years later. Also asked of a record that is not complete yet: what was not
 * reached is not held against the run.
 */
export interface Judgement {
  readonly verdict: Verdict;
  readonly reasons: readonly Reason[];
  /** What is left on targets, and the command that removes it. */
  readonly leftovers: readonly string[];
}

export function judge(run: UnjudgedRun): Judgement {
  // What an interrupted run saw by then is in its record; it is no judgement.
  const observed = run.ended_by === null ? observedFindings(run) : [];
  const passes = run.ended_by === null && observed.length === 0;
  const { findings, leftovers } = putBackFindings(run);
  const all: Finding[] = [
    ...observed,
    // Only a pass needs proof; what already is none has a reason that matters more.
    ...(passes ? notShown(run) : []),
    ...findings,
    ...endFindings(run),
  ];
  return {
    verdict: worst(all.map(([verdict]) => verdict)),
    reasons: all.map(([, why]) => why),
    leftovers,
  };
}

const of =
  (verdict: Verdict) =>
  (why: Reason): Finding => [verdict, why];

/** What the asking half of the run came to; empty means that all is as expected. */
function observedFindings(run: UnjudgedRun): Finding[] {
  const { expectation, refused, baseline, effect, observation } = run;
  if (refused !== null) {
    const about = { field: 'plan', expected: 'nothing that refuses it', at: expectation.file };
    return refused.because.map((observed) => of('aborted')({ ...about, observed }));
  }
  const broken = run.errors
    .filter(({ stage }) => askingStages.includes(stage))
    .map(({ stage, message }) =>
      of('inconclusive')({ field: stage, expected: 'to its end', observed: message }),
    );
  if (broken.length > 0) return broken;
  if (baseline === null)
    return [
      of('inconclusive')({ field: 'run', expected: 'a judgement', observed: 'none was reached' }),
    ];
  if (!baseline.green) {
    const { detail } = baseline;
    return [of('inconclusive')({ field: 'baseline', expected: 'healthy', observed: detail })];
  }
  const missing = effect.filter((check) => check.ok !== true);
  if (missing.length > 0)
    return missing.map(({ name, detail }) =>
      of('inconclusive')(reason(expectation, 'faults', `effect of ${name}`, 'active', detail)),
    );
  if (observation === null) {
    const none = reason(expectation, 'faults', 'observation', 'at least one preflight', 'none');
    return [of('inconclusive')(none)];
  }
  const unproven = effectGone(run) ?? onlyInconclusive(expectation, observation);
  if (unproven !== null) return [of('inconclusive')(unproven)];
  return [
    ...preflightReasons(expectation, observation).map(of('fail')),
    ...userReasons(expectation, observation).map(of('fail')),
    ...mustNots(run, false).map(of('fail')),
    ...unreadReasons(expectation, observation).map(of('inconclusive')),
    ...unseenReasons(expectation, observation).map(of('inconclusive')),
    ...mustNots(run, null).map(of('inconclusive')),
  ];
}

/** All before the first that puts back. */
const askingStages: readonly StageName[] = stageNames.slice(0, stageNames.indexOf('repair'));

/** A green situation may be over because the platform healed itself: its history proves that. */
function effectGone({ expectation, observation }: UnjudgedRun): Reason | null {
  const still = observation?.still_active;
  if (still === true || expectation.expect.hop === 'none') return null;
  const observed = still === null ? 'could not be read' : 'gone before the run took it back';
  return reason(expectation, 'faults', 'effect after observing', 'still active', observed);
}

/** Must-nots that were broken (false), or that nobody could read (null): those did not hold. */
function mustNots({ expectation, invariants, watched }: UnjudgedRun, ok: false | null): Reason[] {
  const why = ({ name, detail }: Check): Reason => {
    const path = `expect.never.${expectation.expect.never.indexOf(name)}`;
    const expected = ok === false ? `not ${name}` : `${name} to be read`;
    return reason(expectation, path, 'never', expected, detail);
  };
  return (invariants ?? watched).filter((check) => check.ok === ok).map(why);
}

/** What the catalogue demands, and nothing shows or one of the sources that show it failed. */
function notShown({ expectation, evidence }: UnjudgedRun): Finding[] {
  return expectation.demanded.flatMap(({ kind, text, path, sources, not_covered: whyNot }) => {
    if (sources.length === 0) {
      const observed = kind === 'evidence' ? 'no source shows it' : 'nothing in "never" watches it';
      const why = reason(expectation, path, kind, text, `${observed}; "not_covered" says why not`);
      return whyNot === null ? [of('fail')(why)] : [];
    }
    const failed = evidence.filter(({ name, ok }) => ok === false && sources.includes(name));
    if (failed.length === 0) return [];
    const because = failed.map(({ name, detail }) => `${name}: ${detail}`).join('; ');
    return [of('fail')(reason(expectation, path, kind, text, `missing: ${because}`))];
  });
}

function endFindings({ ended_by: ended }: UnjudgedRun): Finding[] {
  if (ended === null) return [];
  if (ended.kind === 'guard') {
    const { name, expected, observed } = ended;
    return [of('aborted')({ field: `guard ${name}`, expected, observed })];
  }
  const observed = `interrupted by ${ended.name}`;
  return [of('aborted')({ field: 'run', expected: 'to its end', observed })];
}
