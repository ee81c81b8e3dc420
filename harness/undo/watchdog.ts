/**
 * The dead-man of a stack: one detached process that holds what containers, toxics and files in
 * containers need to be put back. It reads leases and ledgers, knows the fixed verbs of the action
 * records and nothing else, and exits when nothing is armed.
 *
 * node watchdog.ts <state dir> <engine id> <stack>
 */
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { readLease } from './lease.ts';
import { self } from './owner.ts';
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
  if (!claim(pidFile)) return;
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
      rmSync(pidFile, { force: true });
      // A runner that armed just now has seen us alive: look once more before going.
      if (readdirSync(armed).filter(isRunId).length === 0 || !claim(pidFile)) return;
    }
    await sleep(pollMs);
  }
}

function claim(pidFile: string): boolean {
  try {
    writeFileSync(pidFile, JSON.stringify(self()), { flag: 'wx', mode: 0o600 });
    return true;
  } catch {
    return readFileSync(pidFile, 'utf8') === JSON.stringify(self());
  }
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
