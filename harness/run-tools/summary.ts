import { type Observation, type RunRecord, unseenWords } from '../records/run-record.ts';
import { reasonWords } from '../records/verdict.ts';

/** One paragraph for people, the first thing to read in a run folder. */
export function summaryText(record: RunRecord): string {
  const { expectation, observation, recovery } = record;
  const { hop, signal, cause } = expectation.expect;
  const named = observation?.judged ?? null;
  const chain = (words: readonly (string | null | undefined)[]): string =>
    words.filter((word) => word != null).join(' / ');
  const recovered =
    recovery?.after_ms == null ? 'no' : `after ${(recovery.after_ms / 1000).toFixed(1)} s`;
  const lines = [
    `${record.verdict.toUpperCase()}  ${record.scenario}  (${(record.duration_ms / 1000).toFixed(1)} s)`,
    record.title,
    '',
    `expected  ${chain([hop, signal, cause])}`,
    `observed  ${named === null ? lastPreflight(observation) : chain([named.hop, named.signal, named.cause])}`,
    `user      ${userWords(observation)}`,
    ...unseenLines(observation),
    `recovered ${recovered}`,
    ...expectation.demanded.flatMap(({ text, not_covered: why }) =>
      why === null ? [] : [`not covered  ${text}: ${why}`],
    ),
    ...record.reasons.map((one) => {
      const where = one.at === undefined ? '' : `${one.at}: `;
      return `reason    ${where}${reasonWords(one)}`;
    }),
    ...record.leftovers.map((left) => `left      ${left}`),
  ];
  return `${lines.join('\n')}\n`;
}

function lastPreflight(observation: Observation | null): string {
  return observation?.preflights.at(-1)?.result ?? 'nothing';
}

function unseenLines(observation: Observation | null): string[] {
  const unseen = observation?.user?.page_unseen ?? null;
  if (unseen === null) return [];
  return [`not seen  ${unseenWords(unseen)}${unseen.declared ? ' (declared in the profile)' : ''}`];
}

function userWords(observation: Observation | null): string {
  const user = observation?.user ?? null;
  if (user === null) return 'not asked';
  const access = user.access === null ? null : `access ${user.access}`;
  return [user.state, access, user.message].filter((one) => one != null).join(', ');
}
