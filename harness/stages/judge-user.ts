import { type Observation, type UserSeen, unseenWords } from '../records/run-record.ts';
import type { Scenario } from '../records/scenario.ts';
import type { Reason } from '../records/verdict.ts';
import { late, reason } from './reasons.ts';

/**
 * What the user sees against what the file expects: the state, what opening a terminal comes to,
 * and the page in words.
 */
type WantedUser = NonNullable<Scenario['record']['expect']['user']>;

/** State and access; the words of an error are judged besides. */
export function asWanted(wanted: WantedUser, seen: UserSeen): boolean {
  return (
    seen.state === wanted.state &&
    (wanted.access === undefined || seen.access === wanted.access || withoutPage(wanted, seen))
  );
}

/**
 * A refusal that only the page puts into words, when nobody could look at the page: `unseenReasons`
 * says what that means.
 */
const withoutPage = (wanted: WantedUser, seen: UserSeen): boolean =>
  wanted.access === 'error' &&
  seen.access === 'refused' &&
  wanted.page !== undefined &&
  seen.page === null;

export function userReasons(scenario: Scenario, observation: Observation): Reason[] {
  const wanted = scenario.record.expect.user;
  if (wanted === undefined) return [];
  const seen = observation.user;
  if (seen?.state !== wanted.state)
    return [
      reason(
        scenario,
        'expect.user.state',
        'user.state',
        wanted.state,
        seen?.state ?? seen?.message ?? 'not seen',
      ),
      ...(seen === null ? [] : accessReasons(scenario, wanted, seen)),
    ];
  return [
    ...accessReasons(scenario, wanted, seen),
    ...pageReasons(scenario, wanted, seen),
    ...late(scenario, 'user.within', seen.after_ms, observation.limit_ms),
  ];
}

function accessReasons(scenario: Scenario, wanted: WantedUser, seen: UserSeen): Reason[] {
  if (wanted.access === undefined || withoutPage(wanted, seen)) return [];
  if (seen.access !== wanted.access)
    return [
      reason(
        scenario,
        'expect.user.access',
        'user.access',
        wanted.access,
        seen.access ?? 'not seen',
      ),
    ];
  if (wanted.access !== 'error') return [];
  if (!seen.message?.trim() || !seen.correlation_id)
    return [
      reason(
        scenario,
        'expect.user.access',
        'user.message',
        'a message with a correlation id',
        seen.message ?? 'no message',
      ),
    ];
  if (seen.found_in.length > 0) return [];
  return [
    reason(
      scenario,
      'expect.user.access',
      'user.correlation_id',
      'known to the platform',
      `${seen.correlation_id} is found nowhere`,
    ),
  ];
}

/**
 * The page says the right thing, in words, with something to do and an id that operations can look
 * up.
 */
function pageReasons(scenario: Scenario, wanted: WantedUser, { page }: UserSeen): Reason[] {
  if (wanted.page === undefined || page === null) return [];
  const path = 'expect.user.page.shows';
  if (page.state !== 'error' || page.code !== wanted.page.shows)
    return [
      reason(scenario, path, 'user.page', wanted.page.shows, `${page.state} ${page.code}`.trim()),
    ];
  const empty = (['message', 'next', 'correlation_id'] as const).filter(
    (field) => page[field].trim() === '',
  );
  if (empty.length > 0)
    return [
      reason(
        scenario,
        path,
        'user.page',
        'a message, what to do, and a correlation id',
        `no ${empty.join(', no ')}`,
      ),
    ];
  if (page.found_in.length > 0) return [];
  return [
    reason(
      scenario,
      path,
      'user.page',
      'a correlation id that the platform knows',
      `${page.correlation_id} is found nowhere`,
    ),
  ];
}

/**
 * What was asked for and nobody could look at is not known to be right, unless the profile says
 * openly that nobody can.
 */
export function unseenReasons(scenario: Scenario, { user }: Observation): Reason[] {
  const wanted = scenario.record.expect.user?.page;
  const unseen = user?.page_unseen ?? null;
  if (wanted === undefined || unseen === null || unseen.declared) return [];
  return [
    reason(scenario, 'expect.user.page.shows', 'user.page', wanted.shows, unseenWords(unseen)),
  ];
}
