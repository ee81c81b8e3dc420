// A person who works in a terminal of the console: the page stays open, and every second a command
// is typed and its answer awaited.
import { setTimeout as sleep } from 'node:timers/promises';
import { atConsole } from './person.ts';
import type { World } from './world.ts';

const readyMs = 15_000;
const answerMs = 10_000;
const pauseMs = 1000;

/** Works until told to stop; gives how many commands were answered. The first silence is an error. */
export async function workInTerminal(
  world: World,
  node: string,
  stop: AbortSignal,
): Promise<number> {
  const page = await atConsole(world, node);
  try {
    if (!(await page.waitFor((state) => state.state === 'ready', readyMs)))
      throw new Error(`${node}: the terminal is not ready within ${readyMs} ms`);
    let answered = 0;
    while (!stop.aborted) {
      // The shell has to compute it: what is typed does not hold the answer.
      const turn = answered + 1;
      await page.type(`echo $((${turn}*7000))\n`);
      await page.waitForText(new RegExp(`\\b${turn * 7000}\\b`), answerMs);
      answered = turn;
      await sleep(pauseMs, undefined, { signal: stop }).catch(() => undefined);
    }
    return answered;
  } finally {
    await page.close();
  }
}
