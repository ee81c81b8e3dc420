// A platform that hopdrill did not start: plain compose, credentials copied by hand, and the
// profile of the README.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { execa } from 'execa';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { addressesOf, slotCount } from '../../../harness/stack/addresses.ts';
import { composeEnvironment } from '../../../harness/stack/compose.ts';
import { down } from '../../../harness/stack/down.ts';
import { platformFile } from '../support/platform-file.ts';
import { asCommand, command } from '../support/preflight.ts';

// Not the place that `up` takes next, nor that of the compose test.
const file = await platformFile();
const { composeFile } = file;
const addresses = addressesOf(slotCount - 2, file);
const { port } = addresses;
const stack = `foreign-${process.pid}`;
const project = `hopdrill-${stack}`;
const dir = mkdtempSync(join(tmpdir(), 'foreign-'));
const profile = join(dir, 'profile.yaml');
const example = new URL('../../../docs/your-own-platform/profile.yaml', import.meta.url);

const docker = (...words: string[]) => execa('docker', words, { stdin: 'ignore' });
const sleep = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

/** The example with this stack's names and ports, and changes that a test wants. */
function writeProfile(file: string, change: (text: string) => string = (text) => text): void {
  const text = readFileSync(example, 'utf8')
    .replaceAll('gpuaas.test:21000', `gpuaas.test:${port.edge}`)
    .replace('21001', String(port['node-1-ssh']))
    .replace('21003', String(port.links))
    .replaceAll('your-platform', project);
  writeFileSync(file, change(text));
}

beforeAll(async () => {
  const env = composeEnvironment(stack, file, addresses, 'fast');
  await execa('docker', ['compose', '-p', project, '-f', composeFile, 'up', '-d', '--no-build'], {
    env,
    stdin: 'ignore',
  });
  for (const folder of ['operator', 'public'])
    await docker('cp', '-q', `${project}-bootstrap-1:/secrets/${folder}/.`, dir);
  const keys = async () =>
    (
      await execa(
        'docker',
        ['exec', `${project}-node-1-1`, 'sh', '-c', 'cat /etc/ssh/ssh_host_*_key.pub'],
        { reject: false },
      )
    ).stdout;
  let text = await keys();
  for (let tries = 0; text === '' && tries < 100; tries += 1) {
    await sleep(300);
    text = await keys();
  }
  writeFileSync(
    join(dir, 'known_hosts'),
    text
      .split('\n')
      .map((key) => `[127.0.0.1]:${port['node-1-ssh']} ${key.split(' ').slice(0, 2).join(' ')}\n`)
      .join(''),
  );
  writeProfile(profile);
});

afterAll(async () => {
  await execa('docker', ['compose', '-p', project, '-f', composeFile, 'down', '-v', '-t', '1'], {
    env: composeEnvironment(stack, file, addresses, 'fast'),
    reject: false,
  });
  await down(stack);
  rmSync(dir, { recursive: true, force: true });
});

test('the preflight is healthy on it, by the profile alone', async () => {
  let seen = await asCommand(['--profile', profile]);
  // Nobody waited for the platform to come up.
  for (let tries = 0; seen.report.result !== 'healthy' && tries < 40; tries += 1) {
    await sleep(1500);
    seen = await asCommand(['--profile', profile]);
  }
  expect({
    result: seen.report.result,
    hop: seen.report.hop,
    code: seen.code,
    profile: seen.report.environment.profile,
  }).toEqual({
    ...{ result: 'healthy', hop: null, code: 0, profile: 'drill' },
  });
});

test('a scenario breaks it, names the hop, and puts everything back', async () => {
  const { stdout, stderr, exitCode } = await command([
    'run',
    'node-agent/ops-ssh-refused',
    '--profile',
    profile,
    '--json',
  ]);
  const events = stdout.split('\n').map((line) => JSON.parse(line));
  const verdict = events.find((event) => event.event === 'verdict');
  expect({ exitCode, verdict: verdict?.verdict, reasons: verdict?.reasons }, stderr).toEqual({
    exitCode: 0,
    verdict: 'pass',
    reasons: [],
  });
  const left = await docker(
    'exec',
    `${project}-node-1-1`,
    'sh',
    '-c',
    'ls -A /var/lib/hopdrill 2>/dev/null; iptables-save | grep -c hopdrill; true',
  );
  expect(left.stdout.trim()).toBe('0');
});

test('a platform that is not marked disposable is refused, and nothing is touched', async () => {
  const other = join(dir, 'kept.yaml');
  writeProfile(other, (text) => text.replace('disposable: true ', 'disposable: false'));
  const planned = await command([
    'plan',
    'node-agent/ops-ssh-refused',
    '--profile',
    other,
    '--json',
  ]);
  expect(planned.exitCode).toBe(4);
  expect(JSON.parse(planned.stdout).plans[0].refusals.join()).toMatch(/disposable/);
  const ran = await command(['run', 'node-agent/ops-ssh-refused', '--profile', other, '--json']);
  expect(ran.exitCode).toBe(4);
  expect(ran.stdout).not.toMatch(/"stage":"inject"/);
});

test('what the profile does not give is not broken', async () => {
  const other = join(dir, 'no-parts.yaml');
  writeProfile(other, (text) => text.replace(/^parts:\n.*\n/m, '').replace(/^toxiproxy:.*\n/m, ''));
  const { exitCode, stdout } = await command([
    'plan',
    'terminal/public-route-missing',
    '--profile',
    other,
    '--json',
  ]);
  expect(exitCode).toBe(4);
  expect(JSON.parse(stdout).plans[0].refusals.join()).toMatch(/no part edge/);
});

test('without a watchdog its parts and links are not broken, unless that is asked for', async () => {
  const other = join(dir, 'no-watchdog.yaml');
  writeProfile(other, (text) => text.replace(/^watchdog:.*\n/m, ''));
  const scenario = ['terminal/public-route-missing', '--profile', other, '--json'];
  const ran = await command(['run', ...scenario]);
  expect(ran.exitCode).toBe(4);
  expect(ran.stdout).toMatch(/names no watchdog.*--no-deadman/);
  expect(ran.stdout).not.toMatch(/"stage":"inject"/);
  expect((await command(['plan', ...scenario])).exitCode).toBe(4);
  expect((await command(['plan', ...scenario, '--no-deadman'])).exitCode).toBe(0);
});
