// One at a time on a machine, for work that two processes must not do at once. Two image builds,
// say, would fight for the cores and for each other's tags.
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { say, stateDir } from '../bootstrap/machine.mjs';

function alive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // EPERM: it lives, under another user.
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

function take(file: string): boolean {
  try {
    writeFileSync(file, String(process.pid), { flag: 'wx' });
    return true;
  } catch {
    return false;
  }
}

/** Holds the lock while the work runs. A lock whose owner is gone is taken over. */
export async function exclusively<T>(
  work: () => Promise<T>,
  file = join(stateDir(), 'images.lock'),
  what = 'image build',
): Promise<T> {
  for (let told = false; !take(file); ) {
    const owner = existsSync(file) ? Number(readFileSync(file, 'utf8')) : 0;
    // An empty file has an owner that is just writing its number.
    if (owner > 0 && !alive(owner)) rmSync(file, { force: true });
    else {
      if (!told) say(`waiting for the ${what} of process ${owner}`);
      told = true;
      await sleep(500);
    }
  }
  try {
    return await work();
  } finally {
    rmSync(file, { force: true });
  }
}
