/**
 * The dead-man of a stack: one detached process that holds what containers, toxics and files in
 * containers need to be put back. It reads leases and ledgers, knows the fixed verbs of the action
 * records and nothing else, and exits when nothing is armed.
 *
 * node watchdog.ts <state dir> <engine id> <stack>
 */
import { readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { processLock, takeLock } from '../base/lock.ts';
import { self } from '../base/owner.ts';
import { readLease } from './lease.ts';
import { armedDir, isRunId, watchdogFile } from './paths.ts';
import type { fire as fireType } from './watchdog-fire.ts';

const pollMs = 150;
/**
 * A runner renews four times a lease; with less than this left it is late, and the work may have to
 * be done soon.
 */
const lateSeconds = 1.5;
/** It stays for the next scenario of a series: starting it costs more than keeping it. */
const lingerMs = 3000;

async function serve(stateDir: string, engine: string, stack: string): Promise<void> {
  const armed = armedDir(stateDir, engine, stack);
  const pidFile = watchdogFile(stateDir, engine, stack);
  let claim = claimed(pidFile);
  if (claim === null) return;
  let firing: Promise<typeof fireType> | undefined;
  const load = (): Promise<typeof fireType> => {
    firing ??= import('./watchdog-fire.ts').then(async ({ fire, warmUp }) => {
      await warmUp();
      return fire;
    });
    return firing;
  };
  const retryAt = new Map<string, number>();
  let idleSince = performance.now();
  for (;;) {
    const runs = readdirSync(armed).filter(isRunId);
    if (runs.length > 0) idleSince = performance.now();
    for (const run of runs) {
      const left = readLease(join(armed, run));
      if (left < lateSeconds) void load();
      if (left > 0 || (retryAt.get(run) ?? 0) > performance.now()) continue;
      const fire = await load();
      if (await fire(stateDir, engine, run)) rmSync(join(armed, run), { force: true });
      else retryAt.set(run, performance.now() + 1000);
    }
    if (performance.now() - idleSince > lingerMs) {
      claim.release();
      // A runner that armed just now has seen us alive: look once more before going.
      if (readdirSync(armed).filter(isRunId).length === 0) return;
      claim = claimed(pidFile);
      if (claim === null) return;
    }
    await sleep(pollMs);
  }
}

/** Null when another watchdog of this stack is there already. */
function claimed(pidFile: string): { release(): void } | null {
  const taken = takeLock(processLock, pidFile, self());
  return taken.heldBy === null ? taken : null;
}

if (import.meta.main) {
  const [stateDir, engine, stack] = process.argv.slice(2);
  if (stateDir === undefined || engine === undefined || stack === undefined)
    throw new Error('watchdog.ts <state dir> <engine id> <stack>');
  // It outlives the terminal and the job that started it.
  process.on('SIGHUP', () => {});
  process.on('SIGINT', () => {});
  process.title = `hopdrill-watchdog ${stack}`;
  await serve(stateDir, engine, stack);
}
