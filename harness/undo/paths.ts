// Where undo keeps its state: under the user's state directory, per engine, so that two clones on
// one engine see each other.
import { existsSync, mkdirSync, readdirSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';

export const defaultStateDir = (env = process.env): string =>
  join(env.XDG_STATE_HOME || join(homedir(), '.local', 'state'), 'hopdrill');

export const isRunId = (run: string): boolean => /^[A-Za-z0-9][A-Za-z0-9_-]{2,59}$/.test(run);

const safe = (name: string): string => name.replaceAll(/[^A-Za-z0-9_-]/g, '-');

function ensure(dir: string): string {
  mkdirSync(dir, { recursive: true, mode: 0o700 });
  return dir;
}

export const ledgersDir = (stateDir: string, engine: string): string =>
  ensure(join(stateDir, 'ledgers', safe(engine)));

export function ledgerDir(stateDir: string, engine: string, run: string): string {
  if (!isRunId(run))
    throw new Error(`not a run id: ${run} (letters, digits, "-" and "_", at most 60)`);
  return join(ledgersDir(stateDir, engine), run);
}

export const locksDir = (stateDir: string, engine: string): string =>
  ensure(join(stateDir, 'locks', safe(engine)));

/** One file per process and stack: who runs scenarios there, also between two of them. */
export const runnersDir = (stateDir: string, engine: string): string =>
  ensure(join(stateDir, 'runners', safe(engine)));

export const watchdogFile = (stateDir: string, engine: string, stack: string): string =>
  join(ensure(join(stateDir, 'watchdogs', safe(engine))), `${safe(stack)}.json`);

/** One lease file per run that the watchdog of a stack holds. */
export const armedDir = (stateDir: string, engine: string, stack: string): string =>
  ensure(join(stateDir, 'watchdogs', safe(engine), `${safe(stack)}.armed`));

/** Runs that have a ledger, oldest first. */
export function runsWithLedger(stateDir: string, engine: string): string[] {
  const dir = ledgersDir(stateDir, engine);
  return readdirSync(dir)
    .filter((run) => isRunId(run) && existsSync(join(dir, run, 'ledger.jsonl')))
    .sort();
}
