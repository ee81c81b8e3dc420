import type { Comparator, Json } from '../records/item.ts';

export interface Compared {
  /** Null: it cannot be said, as there is nothing to compare with. */
  readonly holds: boolean | null;
  /** What is expected, in words. */
  readonly wanted: string;
}

type Value = Json | undefined;

const isNothing = (value: Value): boolean => value === undefined || value === null;
const alike = (one: Value, other: Value): boolean =>
  JSON.stringify(one ?? null) === JSON.stringify(other ?? null);

export const shown = (value: Value): string =>
  value === undefined ? 'nothing' : JSON.stringify(value);

interface Bounds {
  readonly min?: number | undefined;
  readonly max?: number | undefined;
}

const inside = (value: Value, { min, max }: Bounds): boolean =>
  typeof value === 'number' &&
  (min === undefined || value >= min) &&
  (max === undefined || value <= max);

const boundWords = ({ min, max }: Bounds): string =>
  [
    ...(min === undefined ? [] : [`at least ${min}`]),
    ...(max === undefined ? [] : [`at most ${max}`]),
  ].join(', ');

/** What was read now against what is expected of it and what was read at the baseline. */
export function compare(wanted: Comparator, now: Value, before: Value): Compared {
  if (typeof wanted !== 'object' || wanted === null)
    return { holds: alike(now, wanted), wanted: shown(wanted) };
  if ('set' in wanted) return { holds: !isNothing(now), wanted: 'a value' };
  if ('absent' in wanted) return { holds: isNothing(now), wanted: 'no value' };
  if ('one_of' in wanted)
    return {
      holds: wanted.one_of.some((one) => alike(one, now)),
      wanted: `one of ${wanted.one_of.map(shown).join(', ')}`,
    };
  if ('equals' in wanted) {
    const value = wanted.equals as Json;
    return { holds: alike(value, now), wanted: shown(value) };
  }
  if ('min' in wanted || 'max' in wanted)
    return { holds: inside(now, wanted), wanted: boundWords(wanted) };
  return compareWithBaseline(wanted, now, before);
}

type Relative = Extract<
  Comparator,
  { same: true } | { changed: true } | { rises: Bounds } | { falls: Bounds }
>;

function compareWithBaseline(wanted: Relative, now: Value, before: Value): Compared {
  const known = before !== undefined;
  if ('same' in wanted)
    return { holds: known ? alike(now, before) : null, wanted: `${shown(before)} as before` };
  if ('changed' in wanted)
    return {
      holds: known ? !alike(now, before) : null,
      wanted: `another one than ${shown(before)}`,
    };
  const [word, bounds, sign] =
    'rises' in wanted
      ? (['more', wanted.rises, 1] as const)
      : (['less', wanted.falls, -1] as const);
  const by = typeof now === 'number' && typeof before === 'number' ? sign * (now - before) : null;
  // Without bounds it has to move at all.
  const least = bounds.min ?? (bounds.max === undefined ? Number.MIN_VALUE : undefined);
  const words = boundWords(bounds);
  return {
    holds: by === null ? null : inside(by, { ...bounds, min: least }),
    wanted: `${words === '' ? '' : `${words} `}${word} than ${shown(before)}`,
  };
}
