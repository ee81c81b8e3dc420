import { mkdirSync, mkdtempSync, readdirSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { prune } from '../../harness/undo/keep.ts';

const hours = (count: number): number => Date.now() / 1000 - 3600 * count;

function ledgers(...made: readonly [name: string, ageInHours: number, text: string][]): string {
  const dir = mkdtempSync(join(tmpdir(), 'ledgers-'));
  for (const [name, age, text] of made) {
    mkdirSync(join(dir, name));
    const file = join(dir, name, 'ledger.jsonl');
    writeFileSync(file, text);
    utimesSync(file, hours(age), hours(age));
  }
  return dir;
}
const closed = '{"type":"closed"}\n';

test('the oldest closed ledgers go, by age and not by name', () => {
  const dir = ledgers(['z-old', 9, closed], ['a-new', 2, closed], ['m-newer', 1.5, closed]);
  prune(dir, 1);
  expect(readdirSync(dir)).toEqual(['m-newer']);
});

test('what another runner closed a moment ago stays, however many there are', () => {
  const dir = ledgers(['a', 0.01, closed], ['b', 0.02, closed], ['c', 0, closed]);
  prune(dir, 1);
  expect(readdirSync(dir)).toHaveLength(3);
});

test('a ledger that is not closed is never removed', () => {
  const dir = ledgers(['open', 50, '{"type":"step"}\n'], ['closed', 2, closed]);
  prune(dir, 0);
  expect(readdirSync(dir)).toEqual(['open']);
});
