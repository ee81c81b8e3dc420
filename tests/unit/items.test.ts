// What is expected of a view of the platform, judged over what was read.
import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import { compare } from '../../harness/items/compare.ts';
import { judgeItem } from '../../harness/items/judge-item.ts';
import { comparator, item } from '../../harness/records/item.ts';

describe('a comparator', () => {
  test.each([
    ['a', 'a', undefined, true],
    ['a', 'b', undefined, false],
    [null, undefined, undefined, true],
    [0, false, undefined, false],
    [{ set: true }, 0, undefined, true],
    [{ set: true }, null, undefined, false],
    [{ absent: true }, undefined, undefined, true],
    [{ absent: true }, '', undefined, false],
    [{ same: true }, ['a'], ['a'], true],
    [{ same: true }, ['a'], ['a', 'b'], false],
    [{ same: true }, 1, undefined, null],
    [{ changed: true }, 'b', 'a', true],
    [{ changed: true }, 'a', 'a', false],
    [{ changed: true }, 'a', undefined, null],
    [{ rises: {} }, 2, 1, true],
    [{ rises: {} }, 1, 1, false],
    [{ rises: { min: 2 } }, 2, 1, false],
    [{ rises: { max: 0 } }, 1, 1, true],
    [{ rises: { min: 1, max: 2 } }, 4, 1, false],
    [{ rises: {} }, 1, 2, false],
    [{ rises: {} }, 'x', 1, null],
    [{ falls: { min: 1 } }, 1, 2, true],
    [{ falls: {} }, 2, 1, false],
    [{ min: 2 }, 2, undefined, true],
    [{ min: 2 }, '3', undefined, false],
    [{ max: 2 }, 3, undefined, false],
    [{ min: 1, max: 2 }, 2, undefined, true],
    [{ one_of: ['a', null] }, undefined, undefined, true],
    [{ one_of: ['a'] }, 'b', undefined, false],
    [{ equals: { set: true } }, { set: true }, undefined, true],
    [{ equals: ['a'] }, ['b'], undefined, false],
  ] as const)('%j of %j, before %j: %j', (wanted, now, before, holds) => {
    expect(compare(comparator.parse(wanted), now, before).holds).toBe(holds);
  });

  it('that never can be is refused at load', () => {
    for (const wrong of [
      { set: false },
      { rises: { min: 2, max: 1 } },
      { min: 1, same: true },
      { one_of: [] },
      { more: 1 },
    ])
      expect(comparator.safeParse(wrong).success, JSON.stringify(wrong)).toBe(false);
  });

  it('rises and falls are each other turned round', () => {
    fc.assert(
      fc.property(fc.integer(), fc.integer(), fc.nat(5), (now, before, min) => {
        expect(compare({ rises: { min } }, now, before).holds).toBe(
          compare({ falls: { min } }, before, now).holds,
        );
      }),
    );
  });
});

const rowsOf = (...rows: Parameters<typeof judgeItem>[1]['rows']) => ({ rows });
const body = (text: object) => Object.values(item.parse({ view: text }))[0]!;

describe('an item', () => {
  it('tells what does not hold, and what was expected', () => {
    const wanted = body({ is: { state: 'active', serial: { changed: true }, name: 'x' } });
    const now = rowsOf({ state: 'lost', serial: '1', name: 'x' });
    expect(judgeItem(wanted, now, rowsOf({ serial: '1' }))).toEqual({
      holds: false,
      detail: 'state "lost", expected "active"; serial "1", expected another one than "1"',
    });
  });
  it('that compares with the baseline cannot be said without one', () => {
    const wanted = body({ is: { serial: { same: true } } });
    expect(judgeItem(wanted, rowsOf({ serial: '1' }), null).holds).toBeNull();
  });
  it('of several rows is not guessed', () => {
    const wanted = body({ is: { state: 'a' } });
    expect(judgeItem(wanted, rowsOf({ state: 'a' }, { state: 'a' }), null).holds).toBeNull();
  });
  it('where chooses rows; each wants all of them, and one at least', () => {
    const wanted = body({ where: { of: 'load' }, each: { state: 'done' } });
    const done = { of: 'load', state: 'done' };
    expect(judgeItem(wanted, rowsOf(done, { of: 'x', state: 'lost' }), null).holds).toBe(true);
    expect(judgeItem(wanted, rowsOf(done, { of: 'load', state: 'lost' }), null).holds).toBe(false);
    expect(judgeItem(wanted, rowsOf({ of: 'x', state: 'done' }), null).holds).toBe(false);
  });
  it('counts rows', () => {
    const one = body({ where: { action: 'renewed' }, rows: 1 });
    expect(judgeItem(one, rowsOf({ action: 'renewed' }, { action: 'other' }), null).holds).toBe(
      true,
    );
    expect(judgeItem(one, rowsOf(), null)).toEqual({ holds: false, detail: '0 rows, expected 1' });
    expect(judgeItem(body({ rows: { max: 0 } }), rowsOf(), null).holds).toBe(true);
  });
});
