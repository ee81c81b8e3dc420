// A system of the user's own, outside this repository: named by a path or by the configuration of a
// folder.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { execa } from 'execa';
import { afterAll, beforeAll, expect, test } from 'vitest';

const root = resolve(import.meta.dirname, '../..');
let folder: string;

/** The smallest there is, under a name of its own. */
const module_ = (name: string) => `
import oneHop from ${JSON.stringify(join(root, 'harness/systems/one-hop/index.ts'))};
import { defineSystem } from ${JSON.stringify(join(root, 'harness/systems/define.ts'))};
export default defineSystem({ ...oneHop, name: ${JSON.stringify(name)} });
`;

const againstItself = `
import oneHop from ${JSON.stringify(join(root, 'harness/systems/one-hop/index.ts'))};
import { defineSystem } from ${JSON.stringify(join(root, 'harness/systems/define.ts'))};
const [service, greeting] = oneHop.ask.hops;
export default defineSystem({
  ...oneHop,
  name: 'against-itself',
  ask: { ...oneHop.ask, hops: [{ ...service, after: ['greeting'], signals: ['nobody_home'] }, greeting] },
});
`;

const scenario = (system: string) => `
scenario: ${system}/cut
title: The link is cut
why: It is the only one.
severity: P2
system: ${system}
faults:
  - link.cut: { link: service }
expect: { hop: service, signal: service_unreachable, cause: tcp_reset }
repair: revert
recover: { proof: [preflight-green] }
`;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'own-system-'));
  writeFileSync(join(folder, 'mine.ts'), module_('mine'));
  writeFileSync(join(folder, 'second.ts'), module_('second'));
  writeFileSync(join(folder, 'nothing.ts'), 'export const system = 1;\n');
  writeFileSync(join(folder, 'throws.ts'), "throw new Error('the moon is full');\n");
  writeFileSync(join(folder, 'against-itself.ts'), againstItself);
  writeFileSync(join(folder, 'taken.ts'), module_('one-hop'));
  writeFileSync(join(folder, 'mine.yaml'), scenario('mine'));
  writeFileSync(join(folder, 'second.yaml'), scenario('second'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const hopdrill = (...argv: string[]) =>
  execa(join(root, 'hopdrill'), argv, { cwd: folder, reject: false, stdin: 'ignore' });

test('--system names a module; a scenario beside it is found from where one stands', async () => {
  const without = await hopdrill('list', './mine.yaml', '--json');
  expect(without.exitCode).toBe(64);
  expect(without.stderr).toContain('mine.yaml:6:9: found system "mine"');
  const listed = await hopdrill('list', './mine.yaml', '--json', '--system', './mine.ts');
  expect(JSON.parse(listed.stdout)).toMatchObject([{ name: 'mine/cut', system: 'mine' }]);
});

test('the configuration of the folder names several', async () => {
  const config = join(folder, 'hopdrill.config.ts');
  writeFileSync(config, "export default { systems: ['./mine.ts', './second.ts'] };\n");
  const listed = await hopdrill('list', './mine.yaml', './second.yaml', '--json');
  rmSync(config);
  expect(
    (JSON.parse(listed.stdout) as { system: string }[]).map(({ system }) => system).sort(),
  ).toEqual(['mine', 'second']);
});

test.each([
  ['./none.ts', 'which is not there'],
  ['./nothing.ts', 'without a system as its default export'],
  ['./taken.ts', 'as another system is'],
  ['./throws.ts', './throws.ts cannot be loaded: the moon is full'],
  ['./against-itself.ts', 'nobody_home'],
])('--system %s is refused', async (path, why) => {
  const { exitCode, stderr } = await hopdrill('list', '--system', path);
  expect(exitCode).toBe(64);
  expect(stderr).toContain(why);
});

test('a configuration with several mistakes tells each of them', async () => {
  const config = join(folder, 'hopdrill.config.ts');
  writeFileSync(
    config,
    "export default { systms: [], systems: ['./mine.ts', './none.ts', 7, './throws.ts'] };\n",
  );
  const { exitCode, stderr, stdout } = await hopdrill('list');
  rmSync(config);
  expect([exitCode, stdout]).toEqual([64, '']);
  const lines = stderr.split('\n').filter((line) => line.includes('found: '));
  expect(lines).toHaveLength(4);
  for (const word of ['"systms"', 'with 7 ', './none.ts', 'the moon is full'])
    expect(lines.filter((line) => line.includes(word))).toHaveLength(1);
});

test('a system that contradicts itself tells all of it', async () => {
  const { stderr } = await hopdrill('list', '--system', './against-itself.ts');
  for (const word of ['system against-itself', 'after greeting', 'nobody_home'])
    expect(stderr).toContain(word);
});
