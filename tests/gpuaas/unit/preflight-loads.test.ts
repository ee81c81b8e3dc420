// A preflight is asked often, by people who wait: it loads what asks, and nothing that breaks,
// repairs or judges. Nor can it know a fault or a scenario then.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { execa } from 'execa';
import { afterAll, beforeAll, expect, test } from 'vitest';

const root = resolve(import.meta.dirname, '../../..');
let folder: string;
let loaded: string[];

/** Writes down every module that the process resolves. */
const watcher = `
import { registerHooks } from 'node:module';
import { appendFileSync } from 'node:fs';
registerHooks({
  resolve(specifier, context, next) {
    const found = next(specifier, context);
    appendFileSync(process.env.LOADED, found.url + '\\n');
    return found;
  },
});
`;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'preflight-loads-'));
  const [list, hooks] = [join(folder, 'loaded'), join(folder, 'watcher.mjs')];
  writeFileSync(hooks, watcher);
  // A whole preflight of nothing: the port is closed.
  const asked = ['--api-base', 'http://127.0.0.1:9', '--node-id', 'node-1', '--json'];
  const main = join(root, 'harness/cli/main.ts');
  const ended = await execa('node', [main, 'preflight', ...asked], {
    reject: false,
    env: { LOADED: list, XDG_STATE_HOME: folder, NODE_OPTIONS: `--import=${hooks}` },
  });
  expect((JSON.parse(ended.stdout) as { hops: unknown[] }).hops, ended.stderr).toHaveLength(15);
  loaded = [...new Set(readFileSync(list, 'utf8').trim().split('\n'))]
    .filter((url) => url.startsWith('file:'))
    .map((url) => relative(root, fileURLToPath(url)));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test('of the system: what asks alone', () => {
  const ofSystem = loaded.filter((file) => file.startsWith('harness/systems/gpuaas/'));
  expect(ofSystem).toContain('harness/systems/gpuaas/ask.ts');
  const others = ofSystem.filter(
    (file) =>
      !/^harness\/systems\/gpuaas\/(hops|probe)\//.test(file) &&
      !/\/(index|ask|advice|budgets|causes|conclude|cookie|deployment|flags|names|policies|profile-argv|secret-forms|signals(-\w+)?)\.ts$/.test(
        file,
      ),
  );
  expect(others).toEqual([]);
});

test('no schema library: it would take longer to load than all else', () => {
  expect(loaded.filter((file) => file.includes('node_modules/zod'))).toEqual([]);
});

test('of the core: nothing that breaks, repairs, judges or reads scenarios', () => {
  const areas = new Set(loaded.map((file) => file.split('/').slice(0, 2).join('/')));
  expect([...areas].filter((area) => area.startsWith('harness/')).sort()).toEqual([
    'harness/base',
    'harness/cli',
    'harness/drivers',
    'harness/preflight',
    'harness/records',
    'harness/systems',
  ]);
});
