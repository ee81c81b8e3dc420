import { setTimeout as sleep } from 'node:timers/promises';
import { engineId } from './drivers/engine-id.ts';
import { endingSignals } from './records/exit-codes.ts';
import { listStacks } from './stack/state.ts';
import { defaultStateDir } from './undo/paths.ts';
import { registerRunner, runners } from './undo/runners.ts';

/** A worker process of vitest: the stack that it owns, and how it is told to end. */
export interface ScenarioWorker {
  readonly stack: string;
  /** Once aborted it stays so: whatever file comes next is not run any more. */
  readonly signal: AbortSignal;
  /** `hopdrill stop` need not wait for this process any longer. */
  leave(): void;
  /** Resolves when no worker of another stack of this series is at work. */
  othersEnded(): Promise<void>;
}

const opened = new Map<string, Promise<ScenarioWorker>>();

/** For scenarios of one system; opened once. */
export function scenarioWorker(system: string): Promise<ScenarioWorker> {
  const worker = opened.get(system) ?? open(system);
  opened.set(system, worker);
  return worker;
}

async function open(system: string): Promise<ScenarioWorker> {
  const { stack, others } = stacksOfWorker(system);
  const stateDir = defaultStateDir();
  const engine = await engineId();
  // A worker that is told to end undoes what it broke first; if it is not given the time, the
  // dead-man does.
  const controller = new AbortController();
  for (const name of endingSignals) process.on(name, () => controller.abort(name));
  return {
    stack,
    signal: controller.signal,
    leave: registerRunner(stack, stateDir, engine),
    async othersEnded() {
      const until = performance.now() + patienceMs;
      const atWork = (): boolean =>
        runners(stateDir, engine).some((one) => others.includes(one.stack));
      while (atWork() && performance.now() < until) await sleep(500);
    },
  };
}

/** Less than a test may take. */
const patienceMs = 14 * 60_000;

/** Worker N owns stack N, so that two scenarios never meet on one platform. */
function stacksOfWorker(system: string): { stack: string; others: string[] } {
  const named = process.env.HOPDRILL_STACKS ?? process.env.HOPDRILL_STACK;
  const stacks = named?.split(',') ?? stacksOf(system);
  const worker = Number(process.env.VITEST_POOL_ID ?? 1);
  const stack = stacks[(worker - 1) % stacks.length]!;
  return { stack, others: stacks.filter((one) => one !== stack) };
}

function stacksOf(system: string): string[] {
  const up = listStacks().filter((one) => one.phase === 'up' && one.system === system);
  if (up.length === 0)
    throw new Error(
      `no stack of ${system} is up: "hopdrill up --system ${system}", or HOPDRILL_STACK names one`,
    );
  return up.map(({ stack }) => stack);
}
