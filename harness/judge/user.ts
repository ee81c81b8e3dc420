import type { Expectation } from '../records/expectation.ts';
import { type Observation, type UserSeen, unseenWords } from '../records/run-record.ts';
import type { Reason } from '../records/verdict.ts';
import { late, reason } from './reasons.ts';
import { unread } from './unread.ts';

/**
 * What the user sees against what the file expects: the state, what opening a terminal comes to,
 * and the page in words.
 */
export type ExpectedUser = NonNullable<Expectation['expect']['user']>;

/** State and access; the words of an error are judged besides. */
export function isAsExpected(expected: ExpectedUser, seen: UserSeen): boolean {
  return (
    seen.state === expected.state &&
    (expected.access === undefined ||
      seen.access === expected.access ||
      lacksOnlyThePage(expected, seen))
  );
}

/**
 * A refusal that only the page puts into words, when nobody could look at the page: `unseenReasons`
 * says what that means.
 */
const lacksOnlyThePage = (expected: ExpectedUser, seen: UserSeen): boolean =>
  expected.access === 'error' &&
  seen.access === 'refused' &&
  expected.page !== undefined &&
  seen.page === null;

export function userReasons(expectation: Expectation, observation: Observation): Reason[] {
  const expected = expectation.expect.user;
  if (expected === undefined || unread(observation, 'user') !== undefined) return [];
  const seen = observation.user;
  if (seen?.state !== expected.state) {
    const observed = seen?.state ?? seen?.message ?? 'not seen';
    return [
      reason(expectation, 'expect.user.state', 'user.state', expected.state, observed),
      ...(seen === null ? [] : accessReasons(expectation, expected, seen)),
    ];
  }
  return [
    ...accessReasons(expectation, expected, seen),
    ...pageReasons(expectation, expected, seen),
    ...late(expectation, 'user.within', seen.after_ms, observation.limit_ms),
  ];
}

function accessReasons(expectation: Expectation, expected: ExpectedUser, seen: UserSeen): Reason[] {
  if (expected.access === undefined || lacksOnlyThePage(expected, seen)) return [];
  const because = (field: string, wanted: string, observed: string): Reason[] => [
    reason(expectation, 'expect.user.access', field, wanted, observed),
  ];
  if (seen.access !== expected.access)
    return because('user.access', expected.access, seen.access ?? 'not seen');
  if (expected.access !== 'error') return [];
  if (!seen.message?.trim() || !seen.correlation_id)
    return because('user.message', 'a message with a correlation id', seen.message ?? 'no message');
  if (seen.found_in.length > 0) return [];
  const nowhere = `${seen.correlation_id} is found nowhere`;
  return because('user.correlation_id', 'known to the platform', nowhere);
}

/** The page says the right thing, in words, with a next step and an id that operations can find. */
function pageReasons(
  expectation: Expectation,
  expected: ExpectedUser,
  { page }: UserSeen,
): Reason[] {
  if (expected.page === undefined || page === null) return [];
  const because = (wanted: string, observed: string): Reason[] => [
    reason(expectation, 'expect.user.page.shows', 'user.page', wanted, observed),
  ];
  if (page.state !== 'error' || page.code !== expected.page.shows)
    return because(expected.page.shows, `${page.state} ${page.code}`.trim());
  const empty = (['message', 'next', 'correlation_id'] as const).filter(
    (field) => page[field].trim() === '',
  );
  if (empty.length > 0)
    return because('a message, what to do, and a correlation id', `no ${empty.join(', no ')}`);
  if (page.found_in.length > 0) return [];
  const nowhere = `${page.correlation_id} is found nowhere`;
  return because('a correlation id that the platform knows', nowhere);
}

/**
 * What was asked for and nobody could look at is not known to be right, unless the profile says
 * openly that nobody can.
 */
export function unseenReasons(expectation: Expectation, { user }: Observation): Reason[] {
  const expected = expectation.expect.user?.page;
  const unseen = user?.page_unseen ?? null;
  if (expected === undefined || unseen === null || unseen.declared) return [];
  const path = 'expect.user.page.shows';
  return [reason(expectation, path, 'user.page', expected.shows, unseenWords(unseen))];
}
