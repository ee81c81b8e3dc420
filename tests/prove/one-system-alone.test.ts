// The core knows no system: a copy of this project in which every system but the smallest is gone
// is whole, and does a round.
import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative, resolve } from 'node:path';
import { execa } from 'execa';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { stackFileOf, systemNames } from '../../harness/systems/index.ts';

const root = resolve(import.meta.dirname, '../..');
const kept = 'one-hop';
const stack = `alone-${process.pid}`;
let copy: string;

beforeAll(async () => {
  copy = mkdtempSync(join(tmpdir(), 'hopdrill-alone-'));
  const gone = systemNames().filter((name) => name !== kept);
  expect(gone).not.toEqual([]);
  const stackFiles = await Promise.all(gone.map(stackFileOf));
  const belongs = new RegExp(`(^|/)(${gone.join('|')})[^/]*(/|$)`);
  const isKept = (path: string): boolean =>
    !stackFiles.includes(path) && !belongs.test(relative(root, path));
  const isSource = (path: string): boolean =>
    !/^(\.git|node_modules|reports\/out)$/.test(relative(root, path));
  cpSync(root, copy, { recursive: true, filter: (path) => isSource(path) && isKept(path) });
  await execa('cp', ['-a', join(root, 'node_modules'), copy]);
}, 120_000);

afterAll(async () => {
  await hopdrill('down', '--stack', stack);
  rmSync(copy, { recursive: true, force: true });
}, 120_000);

const inCopy = (command: string, ...words: string[]) =>
  execa(command === 'node' ? process.execPath : command, words, {
    ...{ cwd: copy, preferLocal: true, localDir: copy, reject: false, all: true, stdin: 'ignore' },
    env: { NO_COLOR: '1' },
  });

const hopdrill = (...words: string[]) => inCopy('node', 'harness/cli/main.ts', ...words);

test.each([
  ['types', 'tsc', '--noEmit'],
  ['dead exports', 'knip', '--no-progress', '--include', 'files,exports,types,unlisted'],
  ['import rule', 'node', 'tools/import-rule.ts'],
  ['words of the core', 'node', 'tools/core-words.ts'],
  ['the tests of the core', 'vitest', 'run', '--project', 'unit'],
] as const)('%s', { timeout: 180_000 }, async (_, command, ...words) => {
  const { exitCode, all } = await inCopy(command, ...words);
  expect(exitCode, all).toBe(0);
});

test.each([
  ['up', '--stack', stack],
  ['preflight', '--stack', stack],
  ['run', '--stack', stack],
  ['report', '--last', '2'],
  ['down', '--stack', stack],
])('hopdrill %s', { timeout: 180_000 }, async (...words) => {
  const { exitCode, all } = await hopdrill(...words);
  expect(exitCode, all).toBe(0);
});
