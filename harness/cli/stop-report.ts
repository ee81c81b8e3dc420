// What came of a stop: one more look at each stack, and one line for each run.
import { setTimeout as sleep } from 'node:timers/promises';
import { markPlacesOf } from '../faults/marks.ts';
import type { StopDocument } from '../records/documents.ts';
import { listStacks, loadProfile } from '../stack/state.ts';
import { knownFaults } from '../systems/index.ts';
import { type EndedRun, nameOfRun } from '../undo/end-runs.ts';
import { sweep } from '../undo/sweep.ts';
import type { SweptRun } from '../undo/sweep-run.ts';

type StackLook = StopDocument['stacks'][number] & { readonly swept: readonly SweptRun[] };

/** `up`: the stacks that were up when the command began. */
export async function documentOf(
  runs: readonly EndedRun[],
  stacks: readonly string[],
  up: readonly string[],
): Promise<StopDocument> {
  const looks: StackLook[] = [];
  for (const stack of stacks) {
    const waitedFor = runs.filter((run) => run.stack === stack);
    looks.push(
      waitedFor.every(({ state }) => state === 'ended')
        ? await lookOnceMore(stack, up.includes(stack))
        : { stack, state: 'busy', lines: [], unproven: [], swept: [] },
    );
  }
  const swept = looks.flatMap((look) => look.swept);
  return {
    ok: looks.every(({ state }) => state !== 'unproven' && state !== 'busy'),
    runs: runs.map((run) => ({
      stack: run.stack,
      run: run.run,
      pid: run.owner.pid,
      state: run.state,
      after_seconds: run.seconds,
      line: `${nameOfRun(run)} ${outcomeOf(run, swept)}`,
    })),
    stacks: looks.map(({ swept: _, ...look }) => look),
  };
}

/** Longer than a stack takes to go away. */
const takingDownMs = 20_000;

async function lookOnceMore(stack: string, wasUp: boolean): Promise<StackLook> {
  const isUp = (): boolean => listStacks().some((one) => one.stack === stack && one.phase === 'up');
  const gone: StackLook = {
    stack,
    state: 'taken_down',
    lines: ['taken down meanwhile, with whatever was on it'],
    unproven: [],
    swept: [],
  };
  try {
    if (wasUp && !isUp()) return gone;
    const profiles = wasUp ? [loadProfile(stack)] : [];
    const report = await sweep({ stack, profiles, places: markPlacesOf(await knownFaults()) });
    const unproven = [...report.unproven, ...report.unsearched];
    // `npm run chaos` takes its stacks down as soon as its last run has ended: first the targets
    // stop answering, then the stack is gone.
    const until = performance.now() + (unproven.length > 0 ? takingDownMs : 0);
    while (wasUp && isUp() && performance.now() < until) await sleep(200);
    if (wasUp && !isUp()) return gone;
    const busy = report.runs.some((run) => run.state === 'in_progress');
    const foreign = 'marks on its targets: not searched ("hopdrill undo --profile FILE" does that)';
    return {
      stack,
      state: unproven.length > 0 ? 'unproven' : busy ? 'busy' : wasUp ? 'clean' : 'not_searched',
      lines: wasUp ? [...report.lines] : [...report.lines, foreign],
      unproven,
      swept: report.runs,
    };
  } catch (error) {
    if (wasUp && !isUp()) return gone;
    throw error;
  }
}

function outcomeOf(run: EndedRun, swept: readonly SweptRun[]): string {
  const after = `after ${run.seconds} s`;
  if (run.state === 'not_waited') return 'goes on ending';
  if (run.state === 'not_ended') return `did not end ${after}: ${nextSteps(run)}`;
  const left = swept.find((one) => one.run === run.run);
  if (left?.state === 'taken_back')
    return `ended ${after} without undoing everything; the rest was taken back now`;
  if (left?.state === 'unproven') return `ended ${after}; not all of it could be proven to be back`;
  return run.run === null
    ? `ended ${after}, before its next scenario`
    : `ended ${after}; nothing of it is left`;
}

/** A run that hangs goes on renewing its lease, so only its end lets the dead-man work. */
function nextSteps({ owner, stack, leaseSeconds, deadman, refusal }: EndedRun): string {
  const first = refusal === null ? '' : `it could not be asked to (${refusal}); `;
  const end = `end it with "kill -9 ${owner.pid}"`;
  const undo = `"hopdrill undo --stack ${stack}" proves it`;
  if (leaseSeconds === null) return `${first}nothing of it is broken now; ${end}, then ${undo}`;
  if (deadman === false)
    return `${first}it has no dead-man; ${end}, then "hopdrill undo --stack ${stack}" takes back`;
  const lease = `the dead-man takes back once its lease of ${leaseSeconds} s is over`;
  return `${first}${end}; ${lease}, then ${undo}`;
}

export function printStop({ runs, stacks }: StopDocument): void {
  const print = (line: string): void => void process.stdout.write(`${line}\n`);
  for (const { line } of runs) print(line);
  if (runs.length === 0)
    print(
      stacks.length === 0
        ? 'nothing is under way on any stack'
        : `nothing is under way on ${stacks.map(({ stack }) => stack).join(', ')}`,
    );
  for (const { stack, state, lines, unproven } of stacks) {
    for (const line of lines) print(`stack ${stack}: ${line}`);
    if (state === 'clean') print(`stack ${stack}: nothing is left`);
    if (state === 'unproven') print(`stack ${stack}: unproven: ${unproven.length}`);
  }
}
