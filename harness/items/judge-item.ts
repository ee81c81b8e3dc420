import type { Comparator, ItemBody, Row } from '../records/item.ts';
import { compare, shown } from './compare.ts';

/** One look at a view. */
export interface Reading {
  readonly rows: readonly Row[];
}

export interface Judged {
  /** Null: it cannot be said. */
  readonly holds: boolean | null;
  readonly detail: string;
}

type Fields = Readonly<Record<string, Comparator>>;

/** Whether what was read is as the item wants it, and what was found instead. */
export function judgeItem(item: ItemBody, now: Reading, before: Reading | null): Judged {
  const rows = matching(now, item.where);
  if (item.rows !== undefined) return ofCount(item.rows, rows.length);
  const fields = item.is ?? item.each ?? item.always;
  if (fields === undefined) return { holds: null, detail: 'the item asks nothing' };
  if (rows.length === 0) return { holds: false, detail: 'no row' };
  if (item.each === undefined && rows.length > 1)
    return { holds: null, detail: `${rows.length} rows: which one is meant is not said` };
  const earlier = before === null ? [] : matching(before, item.where);
  return worstOf(rows.map((row, index) => ofRow(fields, row, earlier[index])));
}

function ofCount(wanted: Comparator, count: number): Judged {
  const { holds, wanted: words } = compare(wanted, count, 0);
  return { holds, detail: `${count} rows${holds === true ? '' : `, expected ${words}`}` };
}

const matching = ({ rows }: Reading, where: Fields | undefined): readonly Row[] =>
  where === undefined
    ? rows
    : rows.filter((row) =>
        Object.entries(where).every(
          ([name, wanted]) => compare(wanted, row[name], undefined).holds,
        ),
      );

function ofRow(fields: Fields, row: Row, before: Row | undefined): Judged {
  const all = Object.entries(fields).map(([name, comparator]) => {
    const { holds, wanted } = compare(comparator, row[name], before?.[name]);
    const found = `${name} ${shown(row[name])}`;
    return { holds, detail: holds === true ? found : `${found}, expected ${wanted}` };
  });
  return worstOf(all);
}

/** What does not hold is told first, then what cannot be said; else everything. */
export function worstOf(all: readonly Judged[]): Judged {
  const wrong = all.filter(({ holds }) => holds === false);
  const unknown = all.filter(({ holds }) => holds === null);
  const telling = wrong.length > 0 ? wrong : unknown.length > 0 ? unknown : all;
  return {
    holds: telling[0]?.holds ?? null,
    detail: telling.map(({ detail }) => detail).join('; '),
  };
}
