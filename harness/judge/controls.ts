import type { Expectation } from '../records/expectation.ts';
import type { Observation, RunRecord, UnjudgedRun } from '../records/run-record.ts';
import { judge } from './judge.ts';

/**
 * Whether a run could have failed. A run that passed is judged again with one expected item at a
 * time replaced by a wrong one, and with a forged window in which nothing happened. Nothing is run:
 * the stored record is all that there is.
 */
export interface Control {
  /** `wrong hop`, `wrong user.access`, `forged window`. */
  readonly name: string;
  readonly held: boolean;
  readonly detail: string;
}

/** For each kind of expected value another one that the system could have shown. */
export interface Neighbours {
  hop(hop: string): string;
  signal(hop: string, signal: string): string;
  cause(signal: string, cause: string): string;
  userState(state: string): string;
  historyWord(words: readonly string[]): string;
  pageWord(word: string): string;
}

export function controlsOf(run: RunRecord, neighbours: Neighbours): Control[] {
  const flips = [...wrongExpectations(run, neighbours), ...brokenMustNots(run)];
  const wrong = flips.map(({ field, changed }): Control => {
    const { verdict, reasons } = judge(changed);
    const fields = reasons.map((reason) => reason.field);
    const alone = verdict === 'fail' && fields.length === 1 && fields[0] === field;
    return { name: `wrong ${field}`, held: alone, detail: `${verdict}: ${fields.join(', ')}` };
  });
  const { verdict, reasons } = judge(forged(run));
  const detail = `${verdict}: ${reasons.map(({ field }) => field).join(', ')}`;
  return [...wrong, { name: 'forged window', held: verdict === 'fail', detail }];
}

interface Flip {
  /** The field of the one reason that must come of it. */
  readonly field: string;
  readonly changed: UnjudgedRun;
}

function wrongExpectations(run: RunRecord, neighbours: Neighbours): Flip[] {
  const { expect } = run.expectation;
  const flip = (field: string, change: Partial<Expectation['expect']>): Flip => ({
    field,
    changed: { ...run, expectation: { ...run.expectation, expect: { ...expect, ...change } } },
  });
  const { hop, signal, cause, confidence, result, history = [], user } = expect;
  const flips: Flip[] = [];
  if (hop !== 'none') {
    flips.push(flip('hop', { hop: neighbours.hop(hop) }));
    if (signal !== undefined)
      flips.push(flip('signal', { signal: neighbours.signal(hop, signal) }));
    if (signal !== undefined && cause !== undefined)
      flips.push(flip('cause', { cause: neighbours.cause(signal, cause) }));
    flips.push(flip('confidence', { confidence: confidence === 'high' ? 'low' : 'high' }));
  }
  if (result !== undefined)
    flips.push(flip('result', { result: result === 'healthy' ? 'inconclusive' : 'healthy' }));
  for (const index of history.keys())
    flips.push(flip('history', { history: history.with(index, neighbours.historyWord(history)) }));
  if (user !== undefined) {
    const state = neighbours.userState(user.state) as typeof user.state;
    flips.push(flip('user.state', { user: { ...user, state } }));
    if (user.access !== undefined) {
      const access = user.access === 'ok' ? 'error' : 'ok';
      flips.push(flip('user.access', { user: { ...user, access } }));
    }
    // A page that nobody could look at shows neither the right word nor a wrong one.
    if (user.page !== undefined && run.observation?.user?.page != null)
      flips.push(
        flip('user.page', {
          user: { ...user, page: { shows: neighbours.pageWord(user.page.shows) } },
        }),
      );
  }
  return flips;
}

/** Each must-not by itself, as if one reading had found it broken. */
function brokenMustNots(run: RunRecord): Flip[] {
  const { invariants } = run;
  if (invariants === null) return [];
  return invariants.map((check, index) => ({
    field: 'never',
    changed: { ...run, invariants: invariants.with(index, { ...check, ok: false }) },
  }));
}

/** Every preflight of the window is the one that was made before anything was broken. */
export function forged(run: RunRecord): UnjudgedRun {
  const { observation, baseline } = run;
  if (observation === null || baseline === null) return run;
  const window: Partial<Observation> = {
    preflights: observation.preflights.map(() => baseline.seen),
    judged: null,
    detected_after_ms: null,
    history: [],
  };
  return { ...run, observation: { ...observation, ...window } };
}
