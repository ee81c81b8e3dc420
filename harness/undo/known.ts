import { engineId } from '../drivers/engine-id.ts';
import type { RunLine } from '../records/ledger.ts';
import { isClosed, type LedgerState, readLedger } from './ledger.ts';
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

interface OpenLedger {
  readonly run: string;
  readonly dir: string;
  readonly state: LedgerState;
}

/**
 * Ledgers that are not closed, oldest first, each read when it is its turn. Every start comes by
 * here, and most ledgers are closed: those are not worth parsing.
 */
export function* openLedgers(stateDir: string, engine: string): Generator<OpenLedger> {
  for (const run of runsWithLedger(stateDir, engine)) {
    const dir = ledgerDir(stateDir, engine, run);
    if (isClosed(dir)) continue;
    const state = readLedger(dir);
    if (!state.closed) yield { run, dir, state };
  }
}

/** Those that say whose they are. */
export function* openRuns(
  stateDir: string,
  engine: string,
): Generator<OpenLedger & { readonly line: RunLine }> {
  for (const open of openLedgers(stateDir, engine))
    if (open.state.run !== null) yield { ...open, line: open.state.run };
}
