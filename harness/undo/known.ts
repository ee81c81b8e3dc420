import { engineId } from '../drivers/engine-id.ts';
import { readLedger } from './ledger.ts';
import { defaultStateDir, ledgerDir, runsWithLedger } from './paths.ts';

/** Runs of this engine that have a ledger, each with its stack. */
export async function knownRuns(
  stateDir = defaultStateDir(),
): Promise<{ run: string; stack: string | null }[]> {
  const engine = await engineId();
  return runsWithLedger(stateDir, engine).map((run) => ({
    run,
    stack: readLedger(ledgerDir(stateDir, engine, run)).run?.stack ?? null,
  }));
}
