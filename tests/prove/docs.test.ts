// What README and docs/ tell people to do is done as written, in a folder outside the repository.
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { execa } from 'execa';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { loadProfile } from '../../harness/stack/state.ts';

const root = resolve(import.meta.dirname, '../..');
/** Stands beside whatever else is up. */
const stack = `docs-${process.pid}`;
let folder: string;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'hopdrill-docs-'));
  mkdirSync(join(folder, 'node_modules'));
  symlinkSync(root, join(folder, 'node_modules/hopdrill'));
  symlinkSync(join(root, 'node_modules/zod'), join(folder, 'node_modules/zod'));
});
afterAll(async () => {
  await hopdrill(`hopdrill down --stack ${stack}`);
  rmSync(folder, { recursive: true, force: true });
});

/** One line of a document; the repository's own launcher stands for an installed one. */
function hopdrill(line: string) {
  const [, ...words] = line
    .replace(/\s+#.*/, '')
    .trim()
    .split(/\s+/);
  const cwd = line.trim().startsWith('./') ? root : folder;
  return execa(join(root, 'hopdrill'), words, { cwd, all: true, reject: false, stdin: 'ignore' });
}

interface Block {
  readonly language: string;
  readonly file: string;
  readonly text: string;
}

const blocksOf = (text: string): Block[] =>
  [...text.matchAll(/^```(\w+) ?(\S*)\n(.*?)^```$/gms)].map(
    ([, language = '', file = '', content = '']) => ({ language, file, text: content }),
  );

const read = (file: string): Block[] => blocksOf(readFileSync(join(root, file), 'utf8'));

const commandsOf = (blocks: readonly Block[]): string[] =>
  blocks
    .filter(({ language }) => language === 'sh')
    .flatMap(({ text }) => text.trim().split('\n'))
    .map((line) => line.replace('--stack small', `--stack ${stack}`));

async function passes(lines: readonly string[]): Promise<void> {
  for (const line of lines) {
    const { exitCode, all } = await hopdrill(line);
    expect(exitCode, `${line}\n${all}`).toBe(0);
  }
}

test.each(['adding-a-scenario', 'adding-a-fault', 'adding-a-hop'])('docs/%s.md', async (name) => {
  const blocks = read(`docs/${name}.md`);
  for (const { file, text } of blocks) if (file !== '') writeFileSync(join(folder, file), text);
  const lines = commandsOf(blocks);
  expect(lines.length).toBeGreaterThan(3);
  await passes(lines);
});

test('docs/adding-a-system.md', async () => {
  const blocks = read('docs/adding-a-system.md');
  for (const { file, text } of blocks) if (file !== '') writeFileSync(join(folder, file), text);
  await passes([`hopdrill up --system one-hop --stack ${stack}`]);
  const { service = '' } = loadProfile(stack).endpoints;
  const lines = commandsOf(blocks).map((line) =>
    line.replace('http://127.0.0.1:19000/greeting', service),
  );
  expect(lines.join()).toContain(service);
  await passes([...lines, `hopdrill down --stack ${stack}`]);
});

test('the five minutes of README', async () => {
  const text = readFileSync(join(root, 'README.md'), 'utf8');
  const section = text.split('\n## ').find((part) => part.startsWith('Five minutes'));
  const lines = commandsOf(blocksOf(section ?? ''));
  expect(lines).toHaveLength(5);
  await passes(lines);
});
