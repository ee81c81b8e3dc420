// What the proofs of faults and undo share: the stack by name, and what may be left on a target
// (nothing).
import { execa } from 'execa';
import { slotOf } from '../../../harness/drivers/db-slots.ts';
import { engineId } from '../../../harness/drivers/engine-id.ts';
import { openToxiproxy } from '../../../harness/drivers/toxiproxy.ts';
import type { Profile } from '../../../harness/records/profile.ts';
import { loadProfile } from '../../../harness/stack/state.ts';
import { createExecutor, type Executor } from '../../../harness/undo/execute.ts';
import { type LedgerState, readLedger } from '../../../harness/undo/ledger.ts';
import { sweepNode, sweepToxics } from '../../../harness/undo/marks.ts';
import { sweepPart } from '../../../harness/undo/part-notes.ts';
import { defaultStateDir, ledgerDir } from '../../../harness/undo/paths.ts';
import type { SweepReport } from '../../../harness/undo/sweep.ts';
import { sweepSlots } from '../../../harness/undo/sweep-slots.ts';
import { targetsOf } from '../../../harness/undo/targets.ts';
import { command } from '../../support/command.ts';
import type { FaultCase } from './fault-cases.ts';
import { markPlaces } from './faults.ts';

export const stack = process.env.HOPDRILL_STACK ?? '';

export const stateDir = defaultStateDir();

export const stackProfile = (): Profile => loadProfile(stack);

export const targets = (): ReturnType<typeof targetsOf> => targetsOf(stackProfile(), { stateDir });

export const executor = (): Executor => createExecutor(targets());

export async function ledgerOf(run: string): Promise<LedgerState> {
  return readLedger(ledgerDir(stateDir, await engineId(), run));
}

/** `hopdrill undo` as a person runs it, for this run alone. */
export async function undoByCommand(
  run: string,
): Promise<{ exitCode: number | undefined; report: SweepReport }> {
  const { exitCode, stdout, stderr } = await command(
    'undo',
    '--stack',
    stack,
    '--run',
    run,
    '--json',
  );
  if (stdout === '') throw new Error(`hopdrill undo ended with ${exitCode}: ${stderr}`);
  return { exitCode, report: JSON.parse(stdout) as SweepReport };
}

/** By hand, as somebody at the API of toxiproxy. */
export async function setLink(name: string, enabled: boolean): Promise<void> {
  await openToxiproxy(stackProfile().links!.toxiproxy).setEnabled(name, enabled);
}

/** Everything on any target that carries a mark of this run. */
export async function marksOfRun(run: string): Promise<string[]> {
  const on = executor();
  const how = { dryRun: true, inUse: () => false, places: markPlaces };
  try {
    const nodes = await Promise.all(
      Object.keys(targets().nodes).map((node) => sweepNode(on, node, how)),
    );
    const parts = await Promise.all(
      Object.keys(targets().parts).map((part) => sweepPart(on, targets(), part, how)),
    );
    const toxics = await sweepToxics(targets(), how);
    const slots = await sweepSlots(targets(), { dryRun: true, alive: new Set() });
    return [...nodes.flat(), ...parts.flat(), ...toxics, ...slots]
      .filter((one) => one.run === run || one.run === slotOf(run))
      .map((one) => `${one.where}: ${one.what}`);
  } finally {
    on.close();
  }
}

let count = 0;
export function freshRun(what: string): string {
  count += 1;
  return `t${Date.now().toString(36)}-${process.pid}-${count}-${what.replaceAll(/[^a-z0-9]+/g, '-')}`
    .slice(0, 50)
    .replace(/-+$/, '');
}

const script = new URL('./break-and-die.ts', import.meta.url).pathname;

/**
 * A runner of its own that breaks something and dies of SIGKILL at that point; what it armed stays.
 * Says how it ended.
 */
export async function breakAndDie(
  at: {
    readonly stack: string;
    readonly point: string;
    readonly run: string;
    readonly leaseSeconds: number;
  },
  row: Pick<FaultCase, 'fault' | 'params'>,
): Promise<string> {
  const words = [
    at.stack,
    at.run,
    at.point,
    String(at.leaseSeconds),
    row.fault,
    JSON.stringify(row.params),
  ];
  const { signal, stderr } = await execa(process.execPath, [script, ...words], {
    reject: false,
    stdin: 'ignore',
  });
  return signal ?? (stderr || 'ended');
}
