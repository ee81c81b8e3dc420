// A bad day that begins with a certain step of a run: the runner is killed there, the disk under
// its folder is full, what it tells throws, its end hangs.
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { execa } from 'execa';
import { afterAll, describe, expect, test } from 'vitest';
import { root } from '../../../harness/cli/select.ts';
import { stageNames } from '../../../harness/records/events.ts';
import { readFolder } from '../../../reports/records.ts';
import {
  container,
  docker,
  drill,
  forgetLedger,
  hopdrill,
  leftOnTargets,
  one,
  when,
} from '../support/proof.ts';
import { leaseMs, stack, usual, wholeAfterEach } from '../support/proof-bad-day.ts';
import { sample } from '../support/sampling.ts';

wholeAfterEach();

const home = mkdtempSync(join(tmpdir(), 'hopdrill-steps-'));
afterAll(() => rmSync(home, { recursive: true, force: true }));

const child = ['tests/support/run-until.ts', stack, usual];
const starts = stageNames.map((stage) => `${stage} start`);

describe('a runner that is killed', () => {
  /** The audit's session is closed before the faults, the lock of the stack after them. */
  const closings = ['faults closing', 'faults closed', 'teardown done'];

  test.for(sample('moments of a kill', [...starts, ...closings], 3))('at %s', async (moment) => {
    const out = mkdtempSync(join(home, 'killed-'));
    const ended = await execa('node', [...child, out, moment, 'kill'], {
      cwd: root,
      reject: false,
    });
    expect(ended.signal, ended.stderr).toBe('SIGKILL');
    const folder = readFolder(ended.stdout.trim());
    expect(folder.record).toBeNull();
    expect(folder.scenario).toBe('node-agent/api-egress-rejected');
    expect(folder.last).toBe(
      closings.slice(0, 2).includes(moment) ? 'teardown (start)' : lastOf(moment),
    );
    const undone = await hopdrill(['undo', '--stack', stack]);
    expect(undone.exitCode, undone.stdout).toBe(0);
    const next = await drill(await one('node-agent/ops-ssh-refused'), { out });
    expect([next.verdict, next.reasons]).toEqual(['pass', []]);
  });
  const lastOf = (moment: string): string => moment.replace(/ (\w+)$/, ' ($1)');
});

/** In a mount namespace of its own, so that the small disk is gone with the run. */
const smallDisk = `mount -t tmpfs -o size=4m hopdrill-small "$1" || exit 90
node "$2" "$3" "$4" "$1" "$5" fill; code=$?
rm "$1/fills-the-disk" && cp -a "$1/." "$6" && exit "$code"`;

describe('a disk that is full under the run folder', () => {
  test.for(sample('steps of a full disk', starts, 3))('from %s on', async (moment) => {
    const [disk, kept] = [mkdtempSync(join(home, 'disk-')), mkdtempSync(join(home, 'kept-'))];
    const namespace = process.getuid?.() === 0 ? ['-m'] : ['-m', '--map-root-user'];
    const argv = [...namespace, 'sh', '-c', smallDisk, 'sh', disk, ...child, moment, kept];
    const ended = await execa('unshare', argv, { cwd: root, reject: false });
    expect([ended.exitCode, ended.stdout.split('\n').length], ended.stderr).toEqual([1, 1]);
    expect(ended.stderr).toContain('ENOSPC');
    expect(await leftOnTargets(), 'put back by the run itself').toEqual([]);
    const [name] = readdirSync(kept).filter((entry) => entry !== 'latest');
    const folder = readFolder(join(kept, name!));
    expect(folder.record).toBeNull();
    expect(folder.scenario).toBe('node-agent/api-egress-rejected');
    expect(folder.last).toMatch(/^\w+ \(\w+\)$/);
  });
});

test('a follower that throws changes nothing of the run, and is told at its end', async () => {
  const out = mkdtempSync(join(home, 'follower-'));
  const thrown = await drill(await one(usual), { out }, () => {
    throw new Error('the follower broke');
  }).catch(String);
  expect(thrown).toBe('Error: the follower broke');
  const [name] = readdirSync(out).filter((entry) => entry !== 'latest');
  expect(readFolder(join(out, name!)).record?.verdict).toBe('pass');
});

test('an end that hangs: the other handles are closed, dirty, and what is left is named', async () => {
  const node = container('node-1');
  const pause = when('teardown', 'start', () => void docker('pause', node));
  const record = await drill(await one(usual), {}, pause).finally(() => docker('unpause', node));
  expect(record.verdict, JSON.stringify(record.reasons)).toBe('dirty');
  expect(record.teardown).not.toEqual([]);
  expect(record.leftovers.at(-1)).toBe('to remove it: ./hopdrill undo');
  // Its owner, this very process, lives: `hopdrill undo` leaves it to the dead-man.
  await expect.poll(leftOnTargets, { timeout: leaseMs + 10_000, interval: 500 }).toEqual([]);
  await forgetLedger(record.run_id);
});
