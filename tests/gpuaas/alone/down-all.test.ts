// `down --all` takes every stack of this engine, so it cannot share the engine with the suite's
// stack, or with anybody's.
import { readdirSync } from 'node:fs';
import { execa } from 'execa';
import { afterAll, expect, test } from 'vitest';
import { knownStacks } from '../../../harness/stack/down.ts';
import { releaseLoops } from '../../../harness/stack/loops.ts';
import { stackDir, stacksDir } from '../../../harness/stack/names.ts';
import { command } from '../../support/command.ts';
import { killCases } from '../support/fault-cases.ts';
import { disksOf, held, images, processesNaming, strayLoops } from '../support/held-by-stacks.ts';
import { breakAndDie, freshRun } from '../support/undo.ts';

const one = `alone-one-${process.pid}`;
const two = `alone-two-${process.pid}`;
const others = await knownStacks();
if (others.length > 0)
  process.stdout.write(`      skipped: down --all would take ${others.join(', ')} too\n`);

afterAll(async () => {
  for (const stack of [one, two]) await command('down', '--stack', stack);
});

test.skipIf(others.length > 0)(
  'a broken stack and a forgotten one: nothing of ours is left but the images',
  async () => {
    const strays = await strayLoops();
    const before = await images();
    for (const stack of [one, two]) {
      const up = await command('up', '--stack', stack);
      expect(up.exitCode, up.all).toBe(0);
    }
    const disks = (await Promise.all([one, two].map(disksOf))).flat();
    const run = freshRun('down-all');
    expect(
      await breakAndDie({ stack: one, point: 'applied', run, leaseSeconds: 600 }, killCases.toxic!),
    ).toBe('SIGKILL');
    expect(processesNaming(one)).not.toEqual([]);
    await execa('rm', ['-rf', stackDir(two)]);

    const { exitCode, stdout, all } = await command('down', '--all');
    expect(exitCode, all).toBe(0);
    expect(stdout.match(/^stack \S+: gone/gm)).toEqual([
      `stack ${one}: gone`,
      `stack ${two}: gone`,
    ]);
    expect((await Promise.all([one, two].map(held))).flat()).toEqual([]);
    expect(await knownStacks()).toEqual([]);
    expect(readdirSync(stacksDir())).toEqual([]);
    expect(await releaseLoops(disks)).toBe(0);
    // A node's mounts go a moment after its container, and a watchdog stays for a moment, in case
    // that another run begins.
    await expect
      .poll(async () => (await strayLoops()).filter((loop) => !strays.includes(loop)), {
        timeout: 5000,
      })
      .toEqual([]);
    await expect.poll(() => processesNaming(one, two, run), { timeout: 15_000 }).toEqual([]);
    expect(await images()).toEqual(before);
  },
);
