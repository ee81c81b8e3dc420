import { messageOf } from '../base/message-of.ts';
import { engineId } from '../drivers/engine-id.ts';
import { markPlacesOf } from '../faults/marks.ts';
import type { Plan } from '../plan/plan-scenario.ts';
import type { RunRecord } from '../records/run-record.ts';
import type { Handles } from '../run-tools/handles.ts';
import type { Tools } from '../run-tools/tools.ts';
import type { Engine } from '../undo/engine.ts';
import { type Lock, lock } from '../undo/lock.ts';
import { defaultStateDir } from '../undo/paths.ts';
import { sweep } from '../undo/sweep.ts';

export interface Opened {
  readonly engine: Engine | null;
  readonly refused: RunRecord['refused'];
}

/** Takes the stack's lock, takes back what killed runs left, and opens the ledger of this one. */
export async function open(
  { plan, handles }: { readonly plan: Plan; readonly handles: Handles },
  tools: Tools,
): Promise<Opened> {
  const refuse = (because: readonly string[], left: readonly string[] = []): Opened => ({
    engine: null,
    refused: { because: [...because], left: [...left] },
  });
  if (tools.signal.aborted) return refuse(['told to end before anything began']);
  if (plan.run.refusals.length > 0) return refuse(plan.run.refusals);
  try {
    const held = await handles.open(stackLock(tools));
    if (held.tookOver !== null)
      tools.note(`took over the lock of run ${held.tookOver.run}, whose process is gone`);
    const left = await takeBackLeftovers(tools);
    if (left.length > 0)
      return refuse([`leftovers of an earlier run cannot be taken back: ${left.join('; ')}`], left);
    return { engine: await handles.open(faultsOf(tools)), refused: null };
  } catch (error) {
    return refuse([messageOf(error)]);
  }
}

const stackLock = ({ profile, runId, stateDir = defaultStateDir() }: Tools) => ({
  name: 'lock of the stack',
  withinMs: 5000,
  open: async () => lock(profile.stack, { stateDir, engine: await engineId(), run: runId }),
  close: async (held: Lock) => {
    held.release();
    return undefined;
  },
});

/** Taking back may take as long as the slowest undo of every fault. */
const faultsOf = ({
  profile,
  system,
  runId,
  redact,
  deadman,
  stateDir,
  openEngine,
  dir,
}: Tools) => ({
  name: 'faults',
  withinMs: 120_000,
  open: () =>
    openEngine({
      ...{ profile, runId, runDir: dir, redact, deadman },
      usualLeaseSeconds: system.budgets.lease(profile.policies),
      ...(stateDir !== undefined && { stateDir }),
    }),
  close: async (engine: Engine) => (await engine.close()).unproven,
});

/**
 * The ledger of a run that was killed elsewhere is not here; its marks are on the targets. One that
 * does not answer is the baseline's to judge.
 */
async function takeBackLeftovers({
  profile,
  system,
  stateDir,
  note,
}: Tools): Promise<readonly string[]> {
  const { lines, unproven } = await sweep({
    stack: profile.stack,
    profiles: [profile],
    places: markPlacesOf(system.faults),
    ...(stateDir !== undefined && { stateDir }),
  });
  for (const line of lines) note(line);
  return unproven;
}
