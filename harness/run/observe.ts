import { messageOf } from '../base/message-of.ts';
import { declaredWait } from '../base/spans.ts';
import { isAsExpected } from '../judge/user.ts';
import type { Plan } from '../plan/plan-scenario.ts';
import type { PreflightReport } from '../records/preflight.ts';
import { type Observation, type Seen, type UserSeen, unseenWords } from '../records/run-record.ts';
import { isActive } from '../run-tools/faults.ts';
import { seenOf, wordsOf } from '../run-tools/seen.ts';
import type { Tools } from '../run-tools/tools.ts';
import { coreViews, type UserRow } from '../systems/core-views.ts';
import type { Engine } from '../undo/engine.ts';

const pauseMs = 250;

export interface Observed {
  readonly observation: Observation;
  readonly report: PreflightReport | null;
}

/**
 * Runs the preflight until it names a hop, inside the budget. Healthy and inconclusive ones before
 * that are allowed and kept; the first classified one is the one that is judged, right or wrong. It
 * is told nothing of the fault.
 */
export async function observe(
  { plan, engine }: { readonly plan: Plan; readonly engine: Engine },
  tools: Tools,
): Promise<Observed> {
  const { detect_ms, limit_ms } = plan.run.budgets;
  const started = performance.now();
  const left = (): number => detect_ms - (performance.now() - started);
  const preflights: Seen[] = [];
  const green = plan.expectation.expect.hop === 'none';
  let report: PreflightReport | null = null;
  let judged: Seen | null = null;
  let noted = '';
  let history: History = { words: [], unread: [] };
  do {
    report = await tools.preflight();
    const seen = seenOf(report);
    preflights.push(seen);
    tools.emit('observations', seen);
    const words = wordsOf(seen);
    if (words !== noted) tools.note(words);
    noted = words;
    if (report.result === 'failed' && !(green && mayFail(plan, seen))) {
      judged = seen;
      break;
    }
    if (green) {
      history = await readHistory(tools, report);
      if (greenIsSettled(plan, seen, history.words)) break;
    }
    await declaredWait('detection', Math.min(pauseMs, Math.max(0, left())), tools.signal);
  } while (left() > 0 && !tools.signal.aborted);
  const detected = judged === null ? null : performance.now() - started;
  tools.attachJson('preflight-during.json', report);
  if (!green) history = await readHistory(tools, report);
  // An interrupted run is not judged: nobody has to wait for what the user would see.
  const user = tools.signal.aborted ? null : await userView(plan, tools, report);
  const unread = [...history.unread, ...(user?.unread ?? [])];
  const still_active = tools.signal.aborted ? true : await stillActive(plan, engine, tools);
  const times = { detected_after_ms: detected, limit_ms };
  const seen = { user: user?.seen ?? null, history: [...history.words], unread };
  return { report, observation: { preflights, judged, ...seen, still_active, ...times } };
}

/** Null when that could not be read: then nobody may say that the fault was there all the time. */
async function stillActive(plan: Plan, engine: Engine, tools: Tools): Promise<boolean | null> {
  try {
    const seen = await Promise.all(plan.run.faults.map((_, index) => isActive(engine, index)));
    return seen.every((one) => one.active);
  } catch (error) {
    tools.note(`effect after observing: ${messageOf(error)}`);
    return null;
  }
}

/** On its way back to green a platform that heals itself may fail where the file says so. */
function mayFail({ expectation }: Plan, seen: Seen): boolean {
  return (expectation.expect.also ?? []).includes(seen.hop ?? '');
}

/**
 * A green situation is over when the platform recorded what is expected, and the preflight says
 * what is expected.
 */
function greenIsSettled({ expectation }: Plan, seen: Seen, history: readonly string[]): boolean {
  const { result, history: wanted = [] } = expectation.expect;
  return (
    (result === undefined || seen.result === result) &&
    wanted.every((kind) => history.includes(kind))
  );
}

type Unread = Observation['unread'];

interface History {
  readonly words: readonly string[];
  readonly unread: Unread;
}

async function readHistory({ views, ...tools }: Tools, report: PreflightReport): Promise<History> {
  if (!views.has('history')) return { words: [], unread: [] };
  try {
    const { rows } = await views.read({ history: {} }, { context: tools.context(report) });
    tools.attachJson('history.json', rows);
    return { words: rows.flatMap((row) => coreViews.history.parse(row).words), unread: [] };
  } catch (error) {
    const why = messageOf(error);
    tools.note(why);
    return { words: [], unread: [{ view: 'history', why }] };
  }
}

/**
 * What the user sees has its own delay (stale windows); it is asked until it is as expected or the
 * budget is over.
 */
async function userView(
  plan: Plan,
  tools: Tools,
  report: PreflightReport | null,
): Promise<{ readonly seen: UserSeen | null; readonly unread: Unread } | null> {
  const expected = plan.expectation.expect.user;
  if (expected === undefined || !tools.views.has('user')) return null;
  const started = performance.now();
  for (;;) {
    const asked = performance.now() - started;
    const found = await lookAsUser(expected, tools, report).catch(messageOf);
    const over = performance.now() - started > plan.run.budgets.user_ms || tools.signal.aborted;
    if (typeof found === 'string') {
      if (over) return { seen: null, unread: [{ view: 'user', why: found }] };
      await declaredWait('user view', pauseMs, tools.signal);
      continue;
    }
    const seen = seenByUser(
      found,
      found.after_ms === null ? performance.now() - started : asked + found.after_ms,
    );
    if ((isAsExpected(expected, seen) && lookedAtPage(found)) || over) {
      if (seen.page_unseen !== null) tools.note(unseenWords(seen.page_unseen));
      tools.attachJson('seen-by-user.json', seen);
      return { seen, unread: [] };
    }
    await declaredWait('user view', pauseMs, tools.signal);
  }
}

async function lookAsUser(
  { access, page }: { readonly access?: unknown; readonly page?: unknown },
  { views, context }: Tools,
  report: PreflightReport | null,
): Promise<UserRow> {
  const wanted = { access: access !== undefined, page: page !== undefined };
  const { rows } = await views.read({ user: wanted }, { context: context(report) });
  const row = coreViews.user.parse(rows[0]);
  return wanted.page && row.page === null ? { ...row, page: noPage } : row;
}

const noPage = { unseen: 'the system shows no page', declared: false, final: true };

function seenByUser({ page, ...found }: UserRow, afterMs: number): UserSeen {
  return {
    ...found,
    after_ms: afterMs,
    page: page !== null && 'code' in page ? page : null,
    page_unseen:
      page !== null && 'unseen' in page ? { why: page.unseen, declared: page.declared } : null,
  };
}

/** A browser that could not look may do so the next time; one that is not there will not. */
const lookedAtPage = ({ page }: UserRow): boolean =>
  page === null || !('unseen' in page) || page.final;

export function observedWords({ judged, user }: Observation): string {
  const unseen = user?.page_unseen ?? null;
  const named = judged === null ? 'nothing classified' : wordsOf(judged);
  return unseen === null ? named : `${named}; ${unseenWords(unseen)}`;
}
