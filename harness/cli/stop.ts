import { parseDuration } from '../records/duration.ts';
import { type EndingSignal, exitCodes, exitOfSignal } from '../records/exit-codes.ts';
import type { EndedRun } from '../undo/end-runs.ts';
import type { UnderWay } from '../undo/under-way.ts';
import { mustBeKnown, readOptions, refuse, WrongUsage } from './arguments.ts';
import { onSignal } from './signals.ts';

export const summary = 'end what is under way, and wait until it is undone';
export const help = `Usage: hopdrill stop [--stack NAME | --all] [--within 90s] [--json]

Asks every run that is under way on a stack to end, from any terminal. Each undoes what it broke and
begins no further scenario; a process that runs on several stacks ends on all of them. Waits for
that, then looks once more at the stack, as "hopdrill undo" does. Ctrl-C only ends the waiting.
Without a name: the only stack on which something is under way.

  --stack NAME   this stack
  --all          every stack of this engine
  --within TIME  how long to wait, e.g. 90s or 2m (default: the lease of the run and 60s more)
  --json         one JSON document on stdout; progress stays on stderr

Examples:
  hopdrill stop
  hopdrill stop --stack default --within 2m
  hopdrill stop --all

Exit codes: 0 nothing is under way and nothing is left, 1 a run did not end in time or another one
began, 3 something is unproven or could not be searched, 64 wrong usage, 70 internal error,
129/130/143 the waiting was interrupted.
`;

const options = {
  stack: { type: 'string' },
  all: { type: 'boolean', default: false },
  within: { type: 'string' },
  json: { type: 'boolean', default: false },
} as const;

function read(argv: readonly string[]) {
  const { stack, all, within, json } = readOptions('stop', argv, options);
  const withinMs = within === undefined ? undefined : parseDuration(within, ['s', 'm', 'h']);
  refuse('stop', [
    ...(stack !== undefined && all
      ? [`found: --stack ${stack} beside --all | allowed: one of them`]
      : []),
    ...(withinMs === null
      ? [`found: --within ${within} | allowed: a number and its unit, as in 90s, 2m, 1h`]
      : []),
  ]);
  return { stack, all, withinMs: withinMs ?? undefined, json };
}

const say = (line: string): void => void process.stderr.write(`${line}\n`);

export async function run(argv: readonly string[]): Promise<number> {
  const wanted = read(argv);
  const [{ engineId }, { defaultStateDir }, { underWay }, { listStacks }] = await Promise.all([
    import('../drivers/engine-id.ts'),
    import('../undo/paths.ts'),
    import('../undo/under-way.ts'),
    import('../stack/state.ts'),
  ]);
  const here = { stateDir: defaultStateDir(), engine: await engineId() };
  const all = underWay(here.stateDir, here.engine);
  const up = listStacks().flatMap(({ stack, phase }) => (phase === 'up' ? [stack] : []));
  const stacks = await stacksMeant(wanted, all, up);
  const runs = withTheirProcesses(all, stacks);
  const { endRuns } = await import('../undo/end-runs.ts');
  const interruption = watchForInterruption();
  let ended: readonly EndedRun[];
  try {
    const { withinMs } = wanted;
    ended = await endRuns(runs, { ...here, withinMs, signal: interruption.signal, say });
  } finally {
    interruption.close();
  }
  const { documentOf, printStop } = await import('./stop-report.ts');
  const touched = [...new Set([...stacks, ...runs.map(({ stack }) => stack)])].sort();
  const document = await documentOf(ended, touched, up);
  if (wanted.json) process.stdout.write(`${JSON.stringify(document, null, 2)}\n`);
  else printStop(document);
  const name = interruption.name();
  if (name === undefined) return exitCodeOf(document);
  say(`${name}: not waiting any more; what was asked to end goes on ending by itself`);
  say('"hopdrill stop" waits again, "hopdrill undo" looks whether anything is left');
  return exitOfSignal[name];
}

function exitCodeOf({ stacks }: { stacks: readonly { state: string }[] }): number {
  const states = stacks.map(({ state }) => state);
  if (states.includes('unproven')) return exitCodes.dirty;
  return states.includes('busy') ? exitCodes.fail : exitCodes.pass;
}

async function stacksMeant(
  { stack, all }: { stack: string | undefined; all: boolean },
  runs: readonly UnderWay[],
  up: readonly string[],
): Promise<string[]> {
  const busy = [...new Set(runs.map((run) => run.stack))];
  if (all) return [...new Set([...busy, ...up])];
  if (stack !== undefined) {
    const { knownRuns } = await import('../undo/known.ts');
    const past = (await knownRuns()).flatMap((one) => one.stack ?? []);
    mustBeKnown('--stack', stack, [...busy, ...up, ...past]);
    return [stack];
  }
  if (busy.length > 1)
    throw new WrongUsage(
      `stop: several stacks are busy (${busy.join(', ')}): name one with --stack, or say --all`,
    );
  return busy;
}

/** One process may run on several stacks at once; a signal ends it on all of them. */
function withTheirProcesses(all: readonly UnderWay[], stacks: readonly string[]): UnderWay[] {
  const pids = new Set(all.flatMap((one) => (stacks.includes(one.stack) ? [one.owner.pid] : [])));
  return all.filter(({ owner }) => pids.has(owner.pid));
}

function watchForInterruption() {
  const abort = new AbortController();
  let first: EndingSignal | undefined;
  const note = (name: EndingSignal): void => {
    first ??= name;
    abort.abort(name);
  };
  const close = onSignal(note);
  return {
    signal: abort.signal,
    name: () => first,
    close,
  };
}
