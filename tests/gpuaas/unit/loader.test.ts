import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { findFiles, loadFiles, loadText } from '../../../harness/scenarios/load.ts';
import { vocabulary } from '../../../harness/scenarios/words.ts';

const dir = join(import.meta.dirname, '../broken-scenarios');
const files = readdirSync(dir).filter((name) => name.endsWith('.yaml'));

/**
 * The expectations stand in each file as comments, written by hand: `# line:column found ...`;
 * parts are joined by ";".
 */
function expectations(text: string): { place: string; parts: string[] }[] {
  return [...text.matchAll(/^# (\d+:\d+) (.*)$/gm)].map((match) => ({
    place: match[1] ?? '',
    parts: (match[2] ?? '').split('; '),
  }));
}

describe('broken scenario files', async () => {
  const words = await vocabulary();
  test('there are at least thirty', () => {
    expect(files.length).toBeGreaterThanOrEqual(30);
  });
  test.each(files.filter((name) => !name.startsWith('same-name')))('%s', (name) => {
    const text = readFileSync(join(dir, name), 'utf8');
    const wanted = expectations(text);
    const { mistakes, scenario } = loadText(text, name, words);
    expect(scenario).toBeUndefined();
    expect(wanted.length, 'expectations in the file').toBeGreaterThan(0);
    for (const [index, { place, parts }] of wanted.entries()) {
      expect(mistakes[index], mistakes.join('\n')).toContain(`${name}:${place}: `);
      for (const part of parts) expect(mistakes[index]).toContain(part);
    }
    expect(mistakes, 'nothing besides').toHaveLength(wanted.length);
  });
  test('a name that two files have', () => {
    const { mistakes } = loadFiles(
      ['same-name-one.yaml', 'same-name-two.yaml'].map((name) => join(dir, name)),
      words,
      dir,
    );
    expect(mistakes).toEqual([
      'same-name-two.yaml:1:11: found the scenario name "broken/same-name" again; allowed: a name that no other file has (first at same-name-one.yaml:1:11)',
    ]);
  });
});

test('every scenario in the repository is without a mistake', async () => {
  const root = join(import.meta.dirname, '../../..');
  const { scenarios, mistakes } = loadFiles(findFiles([], root), await vocabulary(), root);
  expect(mistakes).toEqual([]);
  expect(scenarios.length).toBeGreaterThanOrEqual(16);
});

test('positions of values are kept for later reasons', async () => {
  const root = join(import.meta.dirname, '../../..');
  const { scenarios } = loadFiles(
    ['scenarios/gpuaas/node-agent/service-stopped.yaml'],
    await vocabulary(),
    root,
  );
  expect(scenarios[0]?.positions['expect.hop']).toEqual({ line: 13, column: 8 });
  expect(scenarios[0]?.positions['expect.never.1']).toEqual({ line: 17, column: 28 });
});
