/**
 * Processes that run scenarios on a stack, one after the other. Between two scenarios such a
 * process holds neither lock nor ledger, and `hopdrill stop` must find it all the same.
 */
import { readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { isAlive, self } from '../base/owner.ts';
import { owner } from '../records/ledger.ts';
import { runnersDir } from './paths.ts';

const runnerFile = z.object({ stack: z.string(), owner });
export type Runner = z.infer<typeof runnerFile>;

/** Registers this process for a stack; what it returns takes the registration away again. */
export function registerRunner(stack: string, stateDir: string, engine: string): () => void {
  const file = join(runnersDir(stateDir, engine), `${stack}.${process.pid}.json`);
  const runner: Runner = { stack, owner: self() };
  // By rename, so that nobody ever reads half a file.
  writeFileSync(`${file}.part`, `${JSON.stringify(runner)}\n`, { mode: 0o600 });
  renameSync(`${file}.part`, file);
  return () => rmSync(file, { force: true });
}

/** Registered processes that are alive; what others left is removed. */
export function runners(stateDir: string, engine: string): Runner[] {
  const dir = runnersDir(stateDir, engine);
  return readdirSync(dir)
    .filter((name) => name.endsWith('.json'))
    .flatMap((name) => {
      const runner = read(join(dir, name));
      if (runner === null) return [];
      if (isAlive(runner.owner)) return [runner];
      rmSync(join(dir, name), { force: true });
      return [];
    });
}

/** Null when it went away meanwhile, or is nothing that we wrote. */
function read(file: string): Runner | null {
  try {
    return runnerFile.parse(JSON.parse(readFileSync(file, 'utf8')));
  } catch {
    return null;
  }
}
