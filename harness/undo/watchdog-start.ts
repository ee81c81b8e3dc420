// Makes sure that the watchdog of a stack runs before anything that it must hold is broken.
import { spawn } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { processLock, readHolder } from '../base/lock.ts';
import { watchdogFile } from './paths.ts';

export interface WatchdogPlace {
  readonly stateDir: string;
  readonly engine: string;
  readonly stack: string;
}

export const watchdogPid = ({ stateDir, engine, stack }: WatchdogPlace): number | null =>
  readHolder(processLock, watchdogFile(stateDir, engine, stack))?.pid ?? null;

/**
 * Call it after the lease was written: a watchdog about to leave looks once more at what is armed.
 */
export async function ensureWatchdog(place: WatchdogPlace, withinMs = 5000): Promise<number> {
  const until = performance.now() + withinMs;
  const running = watchdogPid(place);
  if (running !== null) return running;
  const file = watchdogFile(place.stateDir, place.engine, place.stack);
  const log = openSync(`${file}.log`, 'a', 0o600);
  const small = ['--max-old-space-size=48', '--max-semi-space-size=1', '--no-warnings'];
  const argv = [
    ...small,
    fileURLToPath(new URL('watchdog.ts', import.meta.url)),
    place.stateDir,
    place.engine,
    place.stack,
  ];
  const child = spawn(process.execPath, argv, {
    detached: true,
    stdio: ['ignore', 'ignore', log],
    cwd: '/',
    env: { PATH: process.env.PATH, HOME: process.env.HOME, DOCKER_HOST: process.env.DOCKER_HOST },
  });
  closeSync(log);
  child.unref();
  while (performance.now() < until) {
    const pid = watchdogPid(place);
    if (pid !== null) return pid;
    await sleep(10);
  }
  throw new Error(`the watchdog of stack ${place.stack} did not start; see ${file}.log`);
}
