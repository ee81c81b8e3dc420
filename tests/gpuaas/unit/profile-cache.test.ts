// What a profile came to is kept under its own text: the second reading is the same, and another
// text is read anew.
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { given } from '../../../harness/cli/preflight-request.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'hopdrill-profile-cache-'));
  vi.stubEnv('NODE_COMPILE_CACHE', folder);
});
afterEach(() => {
  vi.unstubAllEnvs();
  rmSync(folder, { recursive: true, force: true });
});

const kept = () => readdirSync(join(folder, 'profiles'));

async function read(text: string) {
  const file = join(folder, 'profile.yaml');
  writeFileSync(file, text);
  return given(['--profile', file, '--allocation-id', 'a1']);
}

const profile = 'version: 2\nsystem: gpuaas\nstack: cached\ndisposable: true\nenvironment: test\n';
const elsewhere = `${profile}endpoints: { api: "https://api.test", terminal: "https://terminal.test" }\n`;

test('the second reading gives what the first gave', async () => {
  const first = await read(elsewhere);
  expect(kept()).toHaveLength(1);
  expect(await read(elsewhere)).toEqual(first);
  expect(first).toHaveProperty(['request', 'flags', 'api-base'], 'https://api.test');
});

test('a changed text is read anew, and a wrong one is never kept', async () => {
  await read(elsewhere);
  expect(await read(elsewhere.replace('api.test', 'other.test'))).toHaveProperty(
    ['request', 'flags', 'api-base'],
    'https://other.test',
  );
  expect(await read(`${elsewhere}colour: blue\n`)).toHaveProperty('errors');
  expect(await read('version: [1')).toHaveProperty('errors');
  expect(kept()).toHaveLength(2);
});

test('what lies there and cannot be read is as if it were not there', async () => {
  const first = await read(elsewhere);
  writeFileSync(join(folder, 'profiles', kept()[0] ?? ''), '{');
  expect(await read(elsewhere)).toEqual(first);
});
