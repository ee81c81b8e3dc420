import type { Expectation } from '../records/expectation.ts';
import type { Observation } from '../records/run-record.ts';
import type { Reason } from '../records/verdict.ts';
import { reason } from './reasons.ts';

type Unread = Observation['unread'][number];

/** What was asked for and could not be read, if this view is among it. */
export const unread = ({ unread: all }: Observation, view: Unread['view']): Unread | undefined =>
  all.find((one) => one.view === view);

/** Where an expectation stands that nobody can judge without the view. */
const paths = { user: 'expect.user.state', history: 'expect.history' } as const;

export function unreadReasons(expectation: Expectation, observation: Observation): Reason[] {
  return (['user', 'history'] as const).flatMap((view) => {
    const found = unread(observation, view);
    if (found === undefined || expectation.expect[view] === undefined) return [];
    return [reason(expectation, paths[view], view, 'to be read', found.why)];
  });
}
