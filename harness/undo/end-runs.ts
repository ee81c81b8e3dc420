/**
 * Asks processes to end and waits until they have: each undoes what it broke by itself. A process
 * is asked once; a second signal would interrupt a run that is on its way back already.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { messageOf } from '../base/message-of.ts';
import { isAlive, type Owner } from '../base/owner.ts';
import { type UnderWay, underWay } from './under-way.ts';

export interface EndedRun extends UnderWay {
  readonly state: 'ended' | 'not_ended' | 'not_waited';
  readonly seconds: number;
  /** Why it could not be asked, e.g. because it belongs to somebody else. */
  readonly refusal: string | null;
}

export interface Waiting {
  readonly stateDir: string;
  readonly engine: string;
  /** Instead of the time that each run gets by its lease. */
  readonly withinMs?: number | undefined;
  /** Aborted: nobody waits any more; the runs go on ending. */
  readonly signal: AbortSignal;
  readonly say: (line: string) => void;
}

const lookEveryMs = 100;
const sayEveryMs = 5000;
/** Of a run that has no ledger yet: the longest that any profile has by default. */
const longestLeaseSeconds = 60;

/** Once over its lease would have taken everything back; the rest is for undo and read back. */
export const usualLimitMs = ({ leaseSeconds }: UnderWay): number =>
  ((leaseSeconds ?? longestLeaseSeconds) + 60) * 1000;

const isSame = (a: UnderWay, b: UnderWay): boolean =>
  a.stack === b.stack && a.owner.pid === b.owner.pid && a.owner.start_time === b.owner.start_time;

export function nameOfRun({ stack, run, owner }: UnderWay): string {
  const what = run === null ? 'runner between two scenarios' : `run ${run}`;
  return `stack ${stack}: ${what} (pid ${owner.pid})`;
}

export async function endRuns(
  runs: readonly UnderWay[],
  waiting: Waiting,
): Promise<readonly EndedRun[]> {
  const refusals = new Map(
    [...new Map(runs.map(({ owner }) => [owner.pid, owner])).values()].map((owner) => [
      owner.pid,
      askToEnd(owner),
    ]),
  );
  for (const run of runs) waiting.say(`${nameOfRun(run)}: asked to end`);
  const began = performance.now();
  const ended: EndedRun[] = [];
  let left = [...runs];
  let nextWords = sayEveryMs;
  for (;;) {
    const now = underWay(waiting.stateDir, waiting.engine);
    const elapsedMs = performance.now() - began;
    const end = (run: UnderWay, state: EndedRun['state']): void => {
      const refusal = refusals.get(run.owner.pid) ?? null;
      ended.push({ ...run, state, seconds: Math.round(elapsedMs / 100) / 10, refusal });
    };
    left = left.flatMap((run) => {
      const still = now.find((one) => isSame(one, run));
      const limitMs = waiting.withinMs ?? usualLimitMs(still ?? run);
      if (still === undefined) end(run, 'ended');
      else if (elapsedMs >= limitMs) end(still, 'not_ended');
      else if (waiting.signal.aborted) end(still, 'not_waited');
      // Named by the latest scenario: a series may have begun one before the signal arrived.
      else return [still.run === null ? run : still];
      return [];
    });
    if (left.length === 0) return runs.map((run) => ended.find((one) => isSame(one, run))!);
    if (elapsedMs >= nextWords) {
      nextWords += sayEveryMs;
      for (const run of left)
        waiting.say(`${nameOfRun(run)}: ${progress(run, elapsedMs, waiting)}`);
    }
    await sleep(lookEveryMs, undefined, { signal: waiting.signal }).catch(() => {});
  }
}

function progress(run: UnderWay, elapsedMs: number, { withinMs }: Waiting): string {
  const limitMs = withinMs ?? usualLimitMs(run);
  return `still ending, ${Math.round(elapsedMs / 1000)} s of ${Math.round(limitMs / 1000)} s`;
}

/** Looked at right before: its number may have been given to another process meanwhile. */
function askToEnd(owner: Owner): string | null {
  if (!isAlive(owner)) return null;
  try {
    process.kill(owner.pid, 'SIGTERM');
    return null;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ESRCH' ? null : messageOf(error);
  }
}
