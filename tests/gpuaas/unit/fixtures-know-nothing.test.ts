// The system under test must not know that it is tested: no scenario, fault, run id or name of ours
// under fixtures/.
import { readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { expect, test } from 'vitest';
import { stampOf } from '../../../harness/run-tools/folder.ts';
import { runIdOf } from '../../../harness/run-tools/tools.ts';

const filesUnder = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && !entry.parentPath.includes('node_modules'))
    .map((entry) => join(entry.parentPath, entry.name));

const scenarios = filesUnder('scenarios')
  .filter((file) => file.endsWith('.yaml'))
  .map((file) => /^scenario:\s*(\S+)/m.exec(readFileSync(file, 'utf8'))?.[1])
  .filter((name) => name !== undefined);
const faults = filesUnder('harness/faults')
  .map((file) => /name: '([a-z]+\.[a-z-]+)'/.exec(readFileSync(file, 'utf8'))?.[1])
  .filter((name) => name !== undefined);
/** As runs are really named, at whatever time and of whatever scenario. */
const runId = new RegExp(
  `\\b${runIdOf(stampOf(new Date(0)), 'x')
    .replaceAll(/\d/g, '\\d')
    .replace(/x$/, '[a-z0-9]')}`,
);

function offences(text: string): string[] {
  const lower = text.toLowerCase();
  const words = [
    'hopdrill',
    ...scenarios,
    ...scenarios.map((name) => basename(name)),
    ...faults,
  ].filter((word) => lower.includes(word));
  return runId.test(text) ? [...words, 'a run id'] : words;
}

test('the lists come from the folders and are not empty', () => {
  expect(scenarios.length).toBeGreaterThan(3);
  expect(faults.length).toBeGreaterThan(3);
});

test('a file that names one of them would be noticed', () => {
  expect(offences(`if (name === '${scenarios[0]}')`)).not.toEqual([]);
  expect(offences(`# see ${faults[0]}`)).toEqual([faults[0]]);
  expect(offences(`# left by ${runIdOf(stampOf(new Date()), 'some/scenario')}`)).toEqual([
    'a run id',
  ]);
});

/** What starts a platform, and the images that come with hopdrill: nothing of it is inside. */
const isOutside = (file: string): boolean =>
  basename(file) === 'compose.yaml' || file.startsWith('fixtures/images/hopdrill-');

test('no file under fixtures/ names a scenario, a fault, a run or us', () => {
  const inside = filesUnder('fixtures').filter((file) => !isOutside(file));
  const found = inside.flatMap((file) =>
    offences(readFileSync(file, 'utf8')).map((word) => `${file}: ${word}`),
  );
  expect(found).toEqual([]);
});
