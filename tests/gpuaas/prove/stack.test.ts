// Stacks that are interrupted, killed, left over or put beside each other: what is taken away is
// gone, what is another's stays.
import { existsSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { execa } from 'execa';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { engineId } from '../../../harness/drivers/engine-id.ts';
import { releaseLoops } from '../../../harness/stack/loops.ts';
import { stackDir } from '../../../harness/stack/names.ts';
import { watchdogPid } from '../../../harness/undo/watchdog-start.ts';
import { command } from '../../support/command.ts';
import { killCases } from '../support/fault-cases.ts';
import { disksOf, held, processesNaming, strayLoops } from '../support/held-by-stacks.ts';
import { breakAndDie, freshRun, ledgerOf, stateDir } from '../support/undo.ts';
import { World } from '../support/world.ts';

const one = `prove-one-${process.pid}`;
const two = `prove-two-${process.pid}`;

let strays: string[];
beforeEach(async () => {
  strays = await strayLoops();
});
afterEach(async () => {
  await Promise.all([command('down', '--stack', one), command('down', '--stack', two)]);
});

/** Nothing in the engine, no state, no loop device. */
async function isGone(
  stack: string,
  disks: Awaited<ReturnType<typeof disksOf>> = [],
): Promise<void> {
  expect(await held(stack)).toEqual([]);
  expect(existsSync(stackDir(stack))).toBe(false);
  expect(await releaseLoops(disks)).toBe(0);
  // A node's mounts go a moment after its container.
  await expect
    .poll(async () => (await strayLoops()).filter((loop) => !strays.includes(loop)), {
      timeout: 5000,
    })
    .toEqual([]);
}

test('two stacks side by side, and taking one away leaves the other', async () => {
  const first = await command('up', '--stack', one, '--json');
  expect(first.exitCode, first.all).toBe(0);
  const second = await command('up', '--stack', two, '--json', '--policies', 'seed-defaults');
  expect(second.exitCode, second.all).toBe(0);
  expect(JSON.parse(first.stdout).slot).not.toBe(JSON.parse(second.stdout).slot);
  const disks = await disksOf(one);
  expect(disks).toHaveLength(2);
  expect((await command('down', '--stack', one)).exitCode).toBe(0);
  await isGone(one, disks);
  expect((await command('up', '--stack', two, '--policies', 'seed-defaults')).stdout).toContain(
    'up already',
  );
});

test('Ctrl-C after "is up" was said changes nothing', async () => {
  await command('up', '--stack', two);
  const running = command('up', '--stack', two);
  running.stdout.on('data', () => running.kill('SIGINT'));
  const { exitCode, all } = await running;
  expect(all).toContain('up already');
  expect(exitCode, all).toBe(0);
});

// Before the containers, while compose makes them, while they start, and while readiness is asked.
test.each([700, 1800, 2600, 4000, 5500])(
  'Ctrl-C after %i ms of up leaves nothing half-made',
  async (ms) => {
    const running = command('up', '--stack', one);
    await sleep(ms);
    running.kill('SIGINT');
    const { exitCode, all } = await running;
    expect([0, 130], all).toContain(exitCode);
    if (exitCode === 0) expect(all).toContain('is up, and green');
    else await isGone(one);
  },
);

test('what a killed up left is taken away by the next one', async () => {
  const running = command('up', '--stack', one);
  while ((await held(one)).length < 6) await sleep(100);
  running.kill('SIGKILL');
  await running;
  // Compose is no child of ours any more and goes on for a moment, as it would for a person.
  const next = await command('up', '--stack', one);
  expect(next.exitCode, next.all).toBe(0);
  expect(next.all).toContain('what an earlier run left');
});

test('down takes away stopped containers and networks without state', async () => {
  expect((await command('up', '--stack', one)).exitCode).toBe(0);
  const disks = await disksOf(one);
  const names = (await held(one)).filter((name) => name.endsWith('-1'));
  await execa('docker', ['kill', ...names.filter((name) => !name.includes('bootstrap'))], {
    reject: false,
  });
  await execa('rm', ['-rf', stackDir(one)]);
  expect((await command('status')).stdout).toContain(`${one}: leftover`);
  expect((await command('down', '--stack', one)).exitCode).toBe(0);
  await isGone(one, disks);
});

test('down in the middle of it leaves nothing: no fault, no watchdog, no dead-man, no disk', async () => {
  expect((await command('up', '--stack', one)).exitCode).toBe(0);
  const disks = await disksOf(one);
  const runs = { node: freshRun('down-node'), link: freshRun('down-link') };
  for (const [run, row] of [
    [runs.node, killCases['node-rule']!],
    [runs.link, killCases.toxic!],
  ] as const) {
    expect(await breakAndDie({ stack: one, point: 'applied', run, leaseSeconds: 600 }, row)).toBe(
      'SIGKILL',
    );
  }
  const watchdog = watchdogPid({ stateDir, engine: await engineId(), stack: one });
  expect(processesNaming(one).join('\n')).toMatch(
    new RegExp(`^${watchdog}: hopdrill-watchdog ${one}$`, 'm'),
  );
  expect(
    await new World(one).must('node-1', `systemctl is-active hopdrill-${runs.node}.service`),
  ).toBe('active');
  const gone = await command('down', '--stack', one);
  expect([gone.exitCode, gone.stdout], gone.all).toEqual([
    0,
    expect.stringContaining(`stack ${one}: gone`),
  ]);
  await isGone(one, disks);
  // The watchdog stays for a moment, in case that another run begins.
  await expect
    .poll(() => processesNaming(one, ...Object.values(runs)), { timeout: 15_000 })
    .toEqual([]);
  for (const run of Object.values(runs))
    expect(await ledgerOf(run)).toMatchObject({ closed: true });
});
