import { expect, test } from 'vitest';
import { systemNames } from '../../harness/systems/index.ts';
import { coreFiles, mentions, mentionsInCore, wordsOf } from '../../tools/core-words.ts';

test('the core says no word of a system', async () => {
  expect(await mentionsInCore()).toEqual([]);
});

test('there are words to look for, of every system, and files to look into', async () => {
  for (const name of systemNames()) expect((await wordsOf(name)).length).toBeGreaterThan(2);
  expect(coreFiles().length).toBeGreaterThan(100);
  expect(coreFiles().filter((file) => file.includes('/one-hop/'))).toEqual([]);
});

const words = [
  { word: 'door_open', of: 'signals of house' },
  { word: 'node-1', of: 'names of house' },
  { word: 'AcmeCorp', of: 'proper nouns of house' },
];

test.each([
  ["const a = 'door_open';", 'door_open'],
  ['const a = `is $' + '{b} door_open?`;', 'door_open'],
  ['const a = { door_open: 1 };', 'door_open'],
  ['const a = /^door_open$/;', 'door_open'],
  ["const a = 'node-1.api';", 'node-1'],
  ["const a = '/etc/door_open/file';", 'door_open'],
  ["const a = '--node-1 three';", 'node-1'],
  ["const a = 'scenarios/acmecorp/area';", 'AcmeCorp'],
  ['const pathOfAcmeCorp = 1;', 'AcmeCorp'],
])('%s says %s', (source, word) => {
  const found = mentions('a.ts', `\n${source}`, words);
  expect(found).toHaveLength(1);
  expect(found[0]).toContain(`a.ts:2: ${word} (`);
});

test.each([
  "const a = 'the door is open';",
  "const a = 'ERR_DOOR_OPEN';",
  "const a = 'node-12';",
  "const a = 'a-node-1';",
  '// door_open is said in a comment\nconst a = 1;',
  "import { a } from './node-1.ts';",
])('%s says none', (source) => {
  expect(mentions('a.ts', source, words)).toEqual([]);
});
