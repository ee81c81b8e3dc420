// Stacks of two systems side by side: each command finds the one that it is about, or asks for it by
// name.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { command } from '../../support/command.ts';
import { stackOfSuite } from '../support/proof.ts';

const small = `small-${process.pid}`;

beforeAll(async () => {
  const { exitCode, all } = await command('up', '--system', 'one-hop', '--stack', small);
  expect(exitCode, all).toBe(0);
}, 120_000);
afterAll(() => command('down', '--stack', small), 120_000);

test('status shows both, each with its system', async () => {
  const { stdout } = await command('status', '--json');
  const { stacks } = JSON.parse(stdout) as { stacks: { stack: string; system: string }[] };
  const systemOf = (name: string) => stacks.find(({ stack }) => stack === name)?.system;
  expect([systemOf(small), systemOf(stackOfSuite())]).toEqual(['one-hop', 'gpuaas']);
});

test.each([['preflight'], ['run'], ['plan']])(
  '%s without a word asks which, with the names',
  async (name) => {
    const { exitCode, all } = await command(name);
    expect(exitCode).toBe(64);
    expect(all).toContain(`${small} (one-hop)`);
    expect(all).toContain(`${stackOfSuite()} (gpuaas)`);
    expect(all).toContain('--stack');
  },
);

test.each([
  ['one-hop/service-cut', 'one-hop'],
  ['node-agent/ops-ssh-refused', 'gpuaas'],
])('%s is run on the stack of its system', { timeout: 120_000 }, async (name, system) => {
  const { exitCode, all, stdout } = await command('run', name, '--json');
  expect(exitCode, all).toBe(0);
  const events = stdout
    .split('\n')
    .map((line) => JSON.parse(line) as { event: string; stack?: string });
  const ranOn = events.find(({ event }) => event === 'run')?.stack;
  expect(ranOn).toBe(system === 'one-hop' ? small : stackOfSuite());
});

test('scenarios of both at once are refused, with the systems', async () => {
  const { exitCode, all } = await command(
    'run',
    'one-hop/service-cut',
    'node-agent/ops-ssh-refused',
  );
  expect(exitCode).toBe(64);
  expect(all).toContain('gpuaas, one-hop');
});

test('a scenario on a stack of the other system is refused before anything is touched', async () => {
  const { exitCode, all } = await command('run', 'one-hop/service-cut', '--stack', stackOfSuite());
  expect([4, 64]).toContain(exitCode);
  expect(all).toContain('one-hop');
  expect(all).toContain('gpuaas');
});
