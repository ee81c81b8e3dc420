// One at a time on a machine, for work that two processes must not do at once. Two image builds,
// say, would fight for the cores and for each other's tags.
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { processLock, takeLock } from '../base/lock.ts';
import { self } from '../base/owner.ts';
import { say, stateDir } from './bootstrap/machine.mjs';

const lookEveryMs = 500;

/** Holds the lock while the work runs. */
export async function exclusively<T>(
  work: () => Promise<T>,
  file = join(stateDir(), 'images.lock'),
  what = 'image build',
): Promise<T> {
  let waitsFor = 0;
  for (;;) {
    const taken = takeLock(processLock, file, self());
    if (taken.heldBy === null) {
      try {
        return await work();
      } finally {
        taken.release();
      }
    }
    if (waitsFor !== taken.heldBy.pid)
      say(`waiting for the ${what} of process ${taken.heldBy.pid}`);
    waitsFor = taken.heldBy.pid;
    await sleep(lookEveryMs);
  }
}
