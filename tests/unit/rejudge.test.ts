// A stored run is judged again from its folder alone; whatever is wrong with the folder is named.
import { cpSync, mkdtempSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import { judge } from '../../harness/judge/judge.ts';
import { rejudge } from '../../harness/judge/rejudge.ts';
import type { RunRecord } from '../../harness/records/run-record.ts';
import { openRunFolder } from '../../harness/run-tools/folder.ts';
import { command } from '../support/command.ts';
import { expectation, run } from './unjudged-run.ts';

const home = mkdtempSync(join(tmpdir(), 'hopdrill-rejudge-'));
afterAll(() => rmSync(home, { recursive: true, force: true }));

let dir = '';
beforeEach(() => {
  const folder = openRunFolder(home, '2026-01-01T00-00-00-000-a', (text) => text);
  dir = folder.dir;
  const unjudged = run({ attachments: [folder.write('evidence/log.txt', 'said\n')] });
  const { verdict, reasons, leftovers } = judge(unjudged);
  folder.json('verdict.json', {
    ...unjudged,
    verdict,
    reasons,
    leftovers,
  });
});

const file = (): string => join(dir, 'verdict.json');
const stored = (): RunRecord => JSON.parse(readFileSync(file(), 'utf8')) as RunRecord;
const store = (change: object): void =>
  writeFileSync(file(), JSON.stringify({ ...stored(), ...change }));
const report = (...words: string[]) => command('report', '--rejudge', ...words);

describe('a stored run', () => {
  test('is judged the same, also from a copy elsewhere', async () => {
    expect(rejudge(dir)).toMatchObject({ outcome: 'same', verdict: 'pass', details: [] });
    const copy = mkdtempSync(join(tmpdir(), 'hopdrill-copy-'));
    cpSync(dir, join(copy, 'x'), { recursive: true });
    const { exitCode, stdout } = await report(copy);
    rmSync(copy, { recursive: true });
    expect([exitCode, stdout.split('\n').at(-1)]).toEqual([
      0,
      '1 judged the same, 0 differently, 0 unreadable',
    ]);
  });

  test.each<[string, object, string]>([
    ['an edited verdict', { verdict: 'fail' }, 'verdict: stored "fail", judged now "pass"'],
    ['an edited expectation', { expectation: expectation({ hop: 'other' }) }, 'verdict'],
    ['an edited observation', { observation: null }, 'reasons'],
    ['a leftover that was taken out', { teardown: ['rule'] }, 'leftovers'],
  ])('%s is another verdict or reason: exit 1', async (_, change, words) => {
    store(change);
    const { exitCode, stdout } = await report(dir);
    expect(exitCode, stdout).toBe(1);
    expect(stdout).toContain(words);
  });

  test.each<[string, () => void, string]>([
    ['cut off in the middle of a line', () => truncateSync(file(), 200), 'cut off'],
    ['empty', () => truncateSync(file(), 0), 'cut off'],
    ['of an older version', () => store({ schema_version: 1 }), 'version 1'],
    ['of a newer version', () => store({ schema_version: 9 }), 'version 9'],
    ['no record at all', () => writeFileSync(file(), 'null'), 'version undefined'],
    ['with a part of the wrong shape', () => store({ recovery: 'yes' }), 'recovery: '],
    ['with a key that nobody knows', () => store({ colour: 'blue' }), 'colour'],
    ['of 2 GB', () => truncateSync(file(), 2 ** 31), '2147483648 bytes'],
    ['gone', () => rmSync(file()), 'missing'],
    [
      'without an attachment',
      () => rmSync(join(dir, 'evidence/log.txt')),
      'evidence/log.txt: missing',
    ],
    [
      'with a changed attachment',
      () => writeFileSync(join(dir, 'evidence/log.txt'), 'sAid\n'),
      'digest',
    ],
    [
      'with a longer attachment',
      () => writeFileSync(join(dir, 'evidence/log.txt'), 'more'),
      '4 bytes instead of 5',
    ],
    [
      'that names a file outside',
      () => store({ attachments: [{ path: '../x', bytes: 1, sha256: '' }] }),
      'lies outside',
    ],
  ])('%s is unreadable: exit 2, and why', async (_, spoil, words) => {
    spoil();
    expect(rejudge(dir)).toMatchObject({ outcome: 'unreadable', verdict: null });
    expect(rejudge(dir).details.join()).toContain(words);
    writeFileSync(join(dir, 'plan.json'), '{}');
    expect((await report(dir)).exitCode).toBe(2);
  });
});

test('wrong words beside --rejudge are wrong usage, all at once', async () => {
  const { exitCode, stderr } = await report('--last', '3', '--keep', '1', join(home, 'nowhere'));
  expect(exitCode).toBe(64);
  for (const word of ['--last', '--keep', 'nowhere']) expect(stderr).toContain(word);
  expect((await report()).exitCode).toBe(64);
});
