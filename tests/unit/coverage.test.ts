import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { root, select } from '../../harness/cli/select.ts';
import type { Scenario } from '../../harness/records/scenario.ts';
import { catalogue, type Situation } from '../../harness/scenarios/catalogue.ts';
import { coverageOf } from '../../harness/scenarios/coverage.ts';
import { vocabulary } from '../../harness/scenarios/words.ts';

const home = mkdtempSync(join(tmpdir(), 'hopdrill-coverage-'));
afterAll(() => rmSync(home, { recursive: true, force: true }));

test('of every situation of the catalogue something is said', async () => {
  const { systems } = await vocabulary();
  const found = coverageOf(await select({ patterns: [] }), catalogue(), systems, root);
  expect(found.mistakes).toEqual([]);
  expect(found.situations).toHaveLength(catalogue().size);
  expect(found.situations.filter(({ status }) => status === 'silent')).toEqual([]);
});

const situations = new Map<string, Situation>(
  ['a', 'b', 'c'].map((id) => [id, { id, system: 's', domain: id === 'c' ? 'late' : 'early' }]),
);
const hops = { s: { hops: { route: ['lost', 'slow'] } } };
const scenario = {
  record: {
    scenario: 's/one',
    system: 's',
    source: ['a'],
    expect: { hop: 'route', signal: 'lost' },
  },
} as unknown as Scenario;

function covered(notYet: string) {
  mkdirSync(join(home, 'scenarios/s'), { recursive: true });
  writeFileSync(join(home, 'scenarios/s/not-yet.yaml'), notYet);
  const { mistakes, ...rest } = coverageOf([scenario], situations, hops, home);
  return { ...rest, mistakes, statuses: rest.situations.map(({ status }) => status) };
}

describe('a situation', () => {
  test('is proved by the scenarios that name it, put off by id or domain, else silent', () => {
    const found = covered('ids: { b: no clock }\ndomains: { late: no network }\n');
    expect(found.situations).toMatchObject([
      { id: 'a', status: 'proved', scenarios: ['s/one'], why: null },
      { id: 'b', status: 'not_yet', scenarios: [], why: 'no clock' },
      { id: 'c', status: 'not_yet', scenarios: [], why: 'no network' },
    ]);
    expect(covered('# nothing\n').statuses).toEqual(['proved', 'silent', 'silent']);
  });

  test('and each signal is listed with the scenarios that expect it', () => {
    expect(covered('').signals).toEqual([
      { system: 's', hop: 'route', signal: 'lost', scenarios: ['s/one'] },
      { system: 's', hop: 'route', signal: 'slow', scenarios: [] },
    ]);
  });
});

const where = 'scenarios/s/not-yet.yaml';
test.each([
  ['ids:\n  a: too early\n', [`${where}:2:3: found id "a", which s/one proves; allowed: what`]],
  ['ids:\n  bb: later\n', [`${where}:2:3: found catalogue id "bb"; allowed: a, b, c`]],
  [
    'domains:\n  latter: later\n',
    [`${where}:2:3: found domain "latter"; allowed: early, late; did`],
  ],
  ['ids:\n  b: ""\n  c: 3\n', [`${where}:2:6: `, `${where}:3:6: `]],
  ['idz: {}\n', [`${where}:1:1: found unknown key "idz"`]],
  ['ids: [\n', [`${where}:2:1: YAML: `]],
])('%j is refused, with the place', (text, wanted) => {
  const { mistakes } = covered(text);
  expect(mistakes).toHaveLength(wanted.length);
  for (const [index, words] of wanted.entries()) expect(mistakes[index]).toContain(words);
});
