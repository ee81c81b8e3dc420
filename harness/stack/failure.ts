// Why a stack did not come up: which parts are not running or keep restarting, and the end of what
// they said.

import { messageOf } from '../base/message-of.ts';
import { tryDocker } from './docker-cli.ts';
import { type ContainerState, containersOf } from './engine.ts';

const tailLines = 15;

const hasTrouble = ({ endsByItself, state, exitCode, restarts }: ContainerState): boolean =>
  endsByItself ? exitCode !== 0 : state !== 'running' || restarts > 0;

async function tailOf(
  { service, container, state, exitCode, restarts }: ContainerState,
  lines: number,
): Promise<string> {
  const { all } = await tryDocker(['logs', '--tail', String(lines), container]);
  const head = `--- ${service}: ${state}${state === 'exited' ? ` with ${exitCode}` : ''}, ${restarts} restarts`;
  return `${head}\n${all.trim() || '(said nothing)'}`;
}

/** Parts with trouble; when there are none, a few lines of each. */
export async function explainFailure(stack: string): Promise<string> {
  try {
    const containers = await containersOf(stack);
    const troubled = containers.filter(hasTrouble);
    const chosen = troubled.length > 0 ? troubled : containers;
    const texts = await Promise.all(
      chosen.map((one) => tailOf(one, chosen.length > 3 ? 6 : tailLines)),
    );
    return texts.join('\n');
  } catch (error) {
    return `(the engine would not say more: ${messageOf(error)})`;
  }
}
