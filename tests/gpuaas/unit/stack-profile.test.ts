import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { readProfile } from '../../../harness/cli/read-profile.ts';
import { watchedDatabase } from '../../../harness/records/profile.ts';
import { absoluteProfile } from '../../../harness/stack/absolute-profile.ts';
import { addressesOf } from '../../../harness/stack/addresses.ts';
import { composeEnvironment } from '../../../harness/stack/compose.ts';
import { devicesOf } from '../../../harness/stack/loops.ts';
import { isStackName, stackDir } from '../../../harness/stack/names.ts';
import { profileOf, writeProfile } from '../../../harness/stack/profile-file.ts';
import { readStackFile } from '../../../harness/stack/read-declaration.ts';
import {
  listStacks,
  loadProfile,
  profileFileOf,
  readState,
  writeState,
} from '../../../harness/stack/state.ts';

const before = process.env.XDG_STATE_HOME;
const home = mkdtempSync(join(tmpdir(), 'stack-test-'));
beforeAll(() => {
  process.env.XDG_STATE_HOME = home;
});
afterAll(() => {
  if (before === undefined) delete process.env.XDG_STATE_HOME;
  else process.env.XDG_STATE_HOME = before;
  rmSync(home, { recursive: true, force: true });
});

const composeFile = fileURLToPath(new URL('../../../docker-compose.chaos.yml', import.meta.url));
const file = readStackFile(composeFile);
const addresses = addressesOf(2, file);
const deployment = {
  ...{ stack: 'one', system: 'gpuaas', file, addresses },
  ...{ policies: 'fast', options: [] },
};
const state = {
  ...{ stack: 'one', system: 'gpuaas', composeFile, ...addresses, policies: 'fast', options: [] },
  ...{ phase: 'up' as const, pid: 1, startedAt: 'now', images: {} },
} as const;

test.each(['default', 'test-123', 'a'])('%s is a name for a stack', (name) =>
  expect(isStackName(name)).toBe(true),
);
test.each(['', '1a', '../up', 'A', 'a_b', 'a b', `a${'b'.repeat(31)}`])('%j is none', (name) => {
  expect(isStackName(name)).toBe(false);
  expect(() => stackDir(name)).toThrow('not a stack name');
});

test('what is written is read back, and the stack is listed', () => {
  expect(listStacks()).toEqual([]);
  writeState({ ...state, options: [] });
  writeProfile(profileOf(deployment));
  expect(readState('one')).toEqual(state);
  expect(listStacks().map(({ stack, port }) => [stack, port.edge])).toEqual([['one', 21_064]]);
  expect(loadProfile('one')).toEqual(absoluteProfile(profileOf(deployment), stackDir('one')));
});

test('every option and set of policies gives a profile that the system itself accepts', async () => {
  for (const options of [[], ['browser']])
    for (const policies of ['fast', 'seed-defaults']) {
      const profile = profileOf({ ...deployment, options, policies });
      expect(profile.environment).toBe(policies);
      expect(Object.keys(profile.policies)).toContain('node.heartbeat_stale_after_seconds');
      writeProfile(profile);
      await expect(readProfile(profileFileOf('one'))).resolves.toMatchObject({ stack: 'one' });
      expect([profile.endpoints.browser, profile.own.pageNotSeen]).toEqual(
        options.length > 0
          ? ['http://127.0.0.1:21070', undefined]
          : [undefined, 'brought up without --browser'],
      );
    }
});

test('half a state file is no state', () => {
  mkdirSync(stackDir('half'), { recursive: true });
  writeFileSync(join(stackDir('half'), 'stack.json'), '{"stack":');
  expect(readState('half')).toBeNull();
});

test('the writers of the database come by the link', () => {
  expect(watchedDatabase(profileOf(deployment))?.writers.map((writer) => writer.address)).toEqual([
    '198.18.8.20',
    '198.18.8.20',
  ]);
});

test('a loop device is known by the inode of its disk', () => {
  const listing = '/dev/loop1 992180 254:0\n/dev/loop0  992056 254:0\n/dev/loop7 992180 8:1\n';
  expect(devicesOf([{ dev: 65_024n, ino: 992_180n }], listing)).toEqual(['/dev/loop1']);
  expect(devicesOf([], listing)).toEqual([]);
  expect(devicesOf([{ dev: 65_024n, ino: 1n }], '')).toEqual([]);
});

test('slot 0 is what plain compose uses', () => {
  const text = readFileSync(composeFile, 'utf8');
  const environment = composeEnvironment('default', file, addressesOf(0, file), 'fast');
  expect(Object.keys(environment)).toHaveLength(12);
  for (const [name, value] of Object.entries(environment)) {
    const defaults = [...text.matchAll(new RegExp(`\\$\\{${name}:-([^}]*)\\}`, 'g'))].map(
      (match) => match[1],
    );
    expect(new Set(defaults), name).toEqual(new Set([value]));
  }
});
