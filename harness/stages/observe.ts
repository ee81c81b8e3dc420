import type { PreflightReport } from '../records/preflight.ts';
import { type Observation, type Seen, type UserSeen, unseenWords } from '../records/run-record.ts';
import { declaredWait } from '../records/spans.ts';
import type { PageView, UserView } from '../systems/hooks.ts';
import { hookContext, messageOf, type StageDeps, seenOf, wordsOf } from './deps.ts';
import { asWanted } from './judge-user.ts';

/**
 * Runs the preflight until it names a hop, inside the budget. Healthy and inconclusive ones before
 * that are allowed and kept; the first classified one is the one that is judged, right or wrong. It
 * is told nothing of the fault.
 */
const pauseMs = 250;

export interface Observed {
  readonly observation: Observation;
  readonly report: PreflightReport | null;
}

export async function observe(deps: StageDeps): Promise<Observed> {
  const started = performance.now();
  const left = (): number => deps.plan.budgets.detect_ms - (performance.now() - started);
  const preflights: Seen[] = [];
  const green = deps.scenario.record.expect.hop === 'none';
  let report: PreflightReport | null = null;
  let judged: Seen | null = null;
  let noted = '';
  let history: string[] = [];
  do {
    report = await deps.preflight();
    const seen = seenOf(report);
    preflights.push(seen);
    deps.folder.append('observations.jsonl', seen);
    const words = wordsOf(seen);
    if (words !== noted) deps.note(words);
    noted = words;
    if (report.result === 'failed' && !(green && mayFail(deps, seen))) {
      judged = seen;
      break;
    }
    if (green) {
      history = await readHistory(deps, report);
      if (greenIsSettled(deps, seen, history)) break;
    }
    await declaredWait('detection', Math.min(pauseMs, Math.max(0, left())), deps.signal);
  } while (left() > 0 && !deps.signal.aborted);
  const detected = judged === null ? null : performance.now() - started;
  deps.folder.json('preflight-during.json', report);
  if (!green) history = await readHistory(deps, report);
  // An interrupted run is not judged: nobody has to wait for what the user would see.
  const user = deps.signal.aborted ? null : await userView(deps, report);
  const limits = {
    still_active: null,
    detected_after_ms: detected,
    limit_ms: deps.plan.budgets.limit_ms,
  };
  return { report, observation: { preflights, judged, user, history, ...limits } };
}

/** On its way back to green a platform that heals itself may fail where the file says so. */
function mayFail(deps: StageDeps, seen: Seen): boolean {
  return (deps.scenario.record.expect.also ?? []).includes(seen.hop ?? '');
}

/**
 * A green situation is over when the platform recorded what is expected, and the preflight says
 * what is expected.
 */
function greenIsSettled(deps: StageDeps, seen: Seen, history: readonly string[]): boolean {
  const { result, history: wanted = [] } = deps.scenario.record.expect;
  return (
    (result === undefined || seen.result === result) &&
    wanted.every((kind) => history.includes(kind))
  );
}

async function readHistory(deps: StageDeps, report: PreflightReport): Promise<string[]> {
  if (deps.hooks.history === null) return [];
  try {
    const events = await deps.hooks.history(hookContext(deps, report));
    deps.folder.json('history.json', events);
    return events.map((event) => event.kind);
  } catch (error) {
    deps.note(`history: ${messageOf(error)}`);
    return [];
  }
}

/**
 * What the user sees has its own delay (stale windows); it is asked until it is as expected or the
 * budget is over.
 */
async function userView(deps: StageDeps, report: PreflightReport | null): Promise<UserSeen | null> {
  const wanted = deps.scenario.record.expect.user;
  const view = deps.hooks.userView;
  if (wanted === undefined || view === undefined) return null;
  const started = performance.now();
  for (;;) {
    const asked = performance.now() - started;
    let seen: UserSeen;
    try {
      const found = await view(hookContext(deps, report), {
        access: wanted.access !== undefined,
        page: wanted.page !== undefined,
      });
      seen = seenByUser(
        deps,
        found,
        found.afterMs === null ? performance.now() - started : asked + found.afterMs,
      );
    } catch (error) {
      const nothing = {
        state: null,
        access: null,
        correlation_id: null,
        found_in: [],
        page: null,
        page_unseen: null,
      };
      seen = { ...nothing, message: messageOf(error), after_ms: performance.now() - started };
    }
    const over = performance.now() - started > deps.plan.budgets.user_ms || deps.signal.aborted;
    if ((asWanted(wanted, seen) && lookedAtPage(deps, seen)) || over) {
      if (seen.page_unseen !== null) deps.note(unseenWords(seen.page_unseen));
      deps.folder.json('user-view.json', seen);
      return seen;
    }
    await declaredWait('user view', pauseMs, deps.signal);
  }
}

function seenByUser({ profile, scenario }: StageDeps, found: UserView, afterMs: number): UserSeen {
  const asked = scenario.record.expect.user?.page !== undefined;
  const page = found.page ?? (asked ? { unseen: 'the system shows no page' } : null);
  return {
    state: found.state,
    access: found.access,
    message: found.message,
    correlation_id: found.correlationId,
    found_in: [...found.foundIn],
    after_ms: afterMs,
    page: page !== null && 'code' in page ? pageSeen(page) : null,
    page_unseen:
      page !== null && 'unseen' in page
        ? { why: page.unseen, declared: profile.pageNotSeen !== undefined }
        : null,
  };
}

function pageSeen({
  state,
  code,
  message,
  next,
  correlationId,
  foundIn,
}: PageView): UserSeen['page'] {
  return { state, code, message, next, correlation_id: correlationId, found_in: [...foundIn] };
}

/** A browser that could not look may do so the next time; one that is not there will not. */
function lookedAtPage({ profile }: StageDeps, seen: UserSeen): boolean {
  return seen.page_unseen === null || profile.browser === undefined;
}
