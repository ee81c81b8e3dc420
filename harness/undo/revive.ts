// When the API that would take a toxic away does not answer: bring its container back. A restarted
// toxiproxy has no toxics.
import { setTimeout as sleep } from 'node:timers/promises';
import { isDriverError } from '../drivers/errors.ts';
import type { Targets } from '../records/ledger.ts';
import type { Executor } from './execute.ts';

export const isToxiproxySilent = (error: unknown): boolean =>
  isDriverError(error) &&
  error.driver === 'toxiproxy' &&
  (error.code === 'unreachable' || error.code === 'timeout');

/** Starts, unpauses or, when it runs and is silent all the same, restarts it. Says what it did. */
export async function reviveToxiproxy(executor: Executor, targets: Targets): Promise<string> {
  const part = targets.toxiproxy?.part ?? 'links';
  const container = targets.parts[part]?.container;
  if (container === undefined)
    return 'toxiproxy does not answer, and the profile names no container for it';
  const docker = await executor.docker();
  const { status } = await docker.inspect(container);
  if (status === 'paused') await docker.unpause(container);
  else if (status === 'stopped') await docker.start(container);
  else await docker.restart(container, 1);
  await sleep(300);
  return `toxiproxy was silent (container ${status}): ${status === 'running' ? 'restarted' : 'brought back'}`;
}
