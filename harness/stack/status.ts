// What stacks there are, and how they do: what this machine remembers beside what the engine holds.
import { knownStacks } from './down.ts';
import { type ContainerState, containersOf } from './engine.ts';
import { profileFileOf, readState } from './state.ts';

export interface StackStatus {
  readonly stack: string;
  /**
   * `leftover`: the engine or the state folder holds something of a stack that nobody finished or
   * remembers.
   */
  readonly phase: 'up' | 'starting' | 'degraded' | 'leftover';
  readonly system: string | null;
  /** Name of the set. */
  readonly policies: string | null;
  readonly profileFile: string | null;
  readonly startedAt: string | null;
  readonly ports: Readonly<Record<string, number>> | null;
  readonly containers: readonly ContainerState[];
}

const isDown = ({ endsByItself, state, health }: ContainerState): boolean =>
  !endsByItself && (state !== 'running' || health === 'unhealthy');

async function statusOf(stack: string): Promise<StackStatus> {
  const state = readState(stack);
  const containers = await containersOf(stack);
  const phase =
    state === null || containers.length === 0
      ? 'leftover'
      : state.phase === 'up' && containers.some(isDown)
        ? 'degraded'
        : state.phase;
  return {
    stack,
    phase,
    system: state?.system ?? null,
    policies: state?.policies ?? null,
    profileFile: state?.phase === 'up' ? profileFileOf(stack) : null,
    startedAt: state?.startedAt ?? null,
    ports: state?.port ?? null,
    containers,
  };
}

export const status = async (): Promise<StackStatus[]> =>
  Promise.all((await knownStacks()).map(statusOf));

export function renderStatus(stacks: readonly StackStatus[]): string {
  if (stacks.length === 0) return 'no stack of hopdrill here ("hopdrill up" makes one)\n';
  return stacks.map(lineOf).join('');
}

function lineOf({ stack, phase, system, policies, ports, containers }: StackStatus): string {
  const [port] = Object.entries(ports ?? {});
  const where = port === undefined ? '' : `, ${port[0]} on 127.0.0.1:${port[1]}`;
  const what = [system, policies].filter((one) => one !== null).join(', ');
  const unwell = containers
    .filter(isDown)
    .map(
      (one) => `  ${one.service}: ${one.state}${one.health === 'unhealthy' ? ', unhealthy' : ''}\n`,
    );
  return `${stack}: ${phase}${what === '' ? '' : ` (${what})`}, ${containers.length} containers${where}\n${unwell.join('')}`;
}
