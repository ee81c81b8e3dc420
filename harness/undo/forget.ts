/**
 * A stack that is gone took with it whatever runs had left on it: their ledgers have nothing more
 * to be undone from, and a new stack of that name has other hosts and other keys. Without this,
 * `hopdrill undo` would never be done with them.
 */
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { isAlive } from '../base/owner.ts';
import { engineId } from '../drivers/engine-id.ts';
import { openLedger, readLedger } from './ledger.ts';
import { armedDir, defaultStateDir, ledgerDir, runsWithLedger } from './paths.ts';

/** Gives the runs that were closed. One whose process is alive ends by itself. */
export async function forget(
  stack: string,
  options: { stateDir?: string; engine?: string } = {},
): Promise<string[]> {
  const stateDir = options.stateDir ?? defaultStateDir();
  const engine = options.engine ?? (await engineId());
  return runsWithLedger(stateDir, engine).filter((run) => {
    const dir = ledgerDir(stateDir, engine, run);
    const state = readLedger(dir);
    if (state.closed || state.run?.stack !== stack || isAlive(state.run.owner)) return false;
    const ledger = openLedger(dir);
    ledger.append({ type: 'closed', at: new Date().toISOString(), by: 'the end of the stack' });
    ledger.close();
    rmSync(join(armedDir(stateDir, engine, stack), run), { force: true });
    return true;
  });
}
