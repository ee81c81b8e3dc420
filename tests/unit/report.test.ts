import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { unionMs } from '../../harness/base/spans.ts';
import { read } from '../../harness/cli/chaos.ts';
import { shuffled } from '../../harness/cli/select.ts';
import { differences } from '../../harness/plan/actions.ts';
import { openRunFolder } from '../../harness/run-tools/folder.ts';
import { isAllowed } from '../../harness/run-tools/write-audit.ts';
import { junit } from '../../reports/junit.ts';
import { outDir, readFolder } from '../../reports/records.ts';
import { counts, rowOfFolder, summaryEvent, table } from '../../reports/summary.ts';
import { stale } from '../../tools/schemas.ts';

const row = (
  scenario: string,
  verdict: 'pass' | 'fail' | 'inconclusive' | 'dirty' | 'aborted',
  why = '',
) => ({
  scenario,
  verdict,
  hop: null,
  signal: null,
  duration_ms: 1500,
  own_ms: 20,
  why,
  dir: '/d',
});

test('the closing line counts everything that is not a pass as failed, and names it', () => {
  expect(counts([row('a', 'pass'), row('b', 'fail'), row('c', 'inconclusive')])).toBe(
    '1 passed, 2 failed (of which 1 inconclusive)',
  );
  expect(counts([row('a', 'pass')])).toBe('1 passed, 0 failed');
  expect(
    table([row('a', 'pass')])
      .split('\n')
      .at(-1),
  ).toBe('1 passed, 0 failed');
});

test('the worst verdict of a run of many', () => {
  expect(summaryEvent([row('a', 'pass'), row('b', 'inconclusive')]).verdict).toBe('inconclusive');
  expect(summaryEvent([row('a', 'fail'), row('b', 'inconclusive')]).verdict).toBe('fail');
  expect(summaryEvent([row('a', 'dirty'), row('b', 'aborted')]).verdict).toBe('dirty');
});

test('JUnit escapes what XML does not take', () => {
  const xml = junit([row('g/a', 'fail', 'expected <x> & "y"\u0007')]);
  expect(xml).toContain('expected &lt;x&gt; &amp; &quot;y&quot;"');
  expect(xml).toContain('failures="1"');
  expect(junit([row('g/a', 'pass', 'the console page was not looked at')])).toContain(
    '<system-out>the console page was not looked at',
  );
});

test('a folder of a killed run still appears, with the stage it died in', () => {
  const dir = mkdtempSync(join(tmpdir(), 'hopdrill-'));
  mkdirSync(join(dir, 'evidence'));
  writeFileSync(join(dir, 'plan.json'), JSON.stringify({ scenario: 'a/b' }));
  writeFileSync(
    join(dir, 'events.jsonl'),
    `${JSON.stringify({ event: 'stage', stage: 'observe', status: 'start' })}\n{"event":"sta`,
  );
  expect(rowOfFolder(readFolder(dir))).toMatchObject({
    scenario: 'a/b',
    verdict: 'aborted',
    why: 'no verdict; ended in observe (start)',
  });
});

test.each([
  [
    'of a version before',
    '{"schema_version":1,"verdict":"pass"}',
    'pass',
    'version 1; this hopdrill',
  ],
  ['cut off', '{"schema_version":2,"verd', 'aborted', 'cut off or no JSON'],
])(
  'a record that is %s is said to be, and what it says of itself is told',
  (_, text, ...wanted) => {
    const dir = mkdtempSync(join(tmpdir(), 'hopdrill-'));
    writeFileSync(join(dir, 'verdict.json'), text);
    const { verdict, why } = rowOfFolder(readFolder(dir));
    expect([verdict, why]).toEqual([wanted[0], expect.stringContaining(wanted[1]!)]);
  },
);

test('run folders of the same moment do not meet', () => {
  const out = mkdtempSync(join(tmpdir(), 'hopdrill-'));
  const folders = [1, 2, 3].map(() => openRunFolder(out, 'x', (text) => text).dir);
  expect(new Set(folders).size).toBe(3);
});

test('overlapping calls count once', () => {
  const span = (startMs: number, endMs: number) =>
    ({ kind: 'driver', name: '', startMs, endMs }) as const;
  expect(unionMs([span(0, 10), span(5, 15), span(20, 30), span(-5, 2)], 0, 25)).toBe(20);
});

test('an action more or less than planned is a difference; a superseded undo is not', () => {
  expect(differences(['0 inject a', '0 undo b'], ['0 inject a'], [0])).toEqual([]);
  expect(differences(['0 inject a', '0 undo b'], ['0 inject a', '0 inject c'], [])).toEqual([
    'planned, not executed: 0 undo b',
    'executed, not planned: 0 inject c',
  ]);
});

test('only role, address and application together are a service of the platform', () => {
  const database = { writers: [{ role: 'api', address: '10.0.0.20', application: 'gpuaas-api' }] };
  expect(
    isAllowed(
      { session_user: 'api', client_addr: '10.0.0.20/32', application_name: 'gpuaas-api' },
      database,
    ),
  ).toBe(true);
  expect(
    isAllowed({ session_user: 'api', client_addr: null, application_name: 'gpuaas-api' }, database),
  ).toBe(false);
  expect(
    isAllowed(
      { session_user: 'api', client_addr: '10.0.0.20/32', application_name: 'psql' },
      database,
    ),
  ).toBe(false);
  expect(
    isAllowed(
      { session_user: 'postgres', client_addr: '10.0.0.20', application_name: 'gpuaas-api' },
      database,
    ),
  ).toBe(false);
});

test('the same seed gives the same order', () => {
  const items = ['a', 'b', 'c', 'd', 'e', 'f'];
  expect(shuffled(items, '7')).toEqual(shuffled(items, '7'));
  expect(shuffled(items, '7')).not.toEqual(shuffled(items, '8'));
  expect([...shuffled(items, '7')].sort()).toEqual(items);
});

test('the schemas on disk are those of the records', async () => {
  expect(await stale()).toEqual([]);
});

test('chaos keeps its own flags and passes the others on', () => {
  expect(read(['--stacks', '2', '-t', 'cert', '--no-browser'])).toEqual({
    stacks: ['chaos', 'chaos-2'],
    policies: undefined,
    out: outDir,
    without: ['browser'],
    keep: false,
    rest: ['-t', 'cert'],
  });
  expect(read(['--out', '/some/where']).out).toBe('/some/where');
  for (const out of [['--out'], ['--out', '--keep'], ['--out=/dev/null']])
    expect(() => read(out), out.join(' ')).toThrow(/--out .*a folder, or a name that is free/);
  expect(() => read(['--stacks', 'many'])).toThrow(/whole number/);
  expect(() => read(['--profile', 'fast'])).toThrow(/--policies/);
});
