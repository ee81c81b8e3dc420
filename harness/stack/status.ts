// What stacks there are, and how they do: what this machine remembers beside what the engine holds.
import { addressesOf, type Ports } from './addresses.ts';
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
  readonly profile: string | null;
  readonly profileFile: string | null;
  readonly startedAt: string | null;
  readonly ports: Ports | null;
  readonly containers: readonly ContainerState[];
}

const isDown = ({ service, state, health }: ContainerState): boolean =>
  service !== 'bootstrap' && (state !== 'running' || health === 'unhealthy');

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
    profile: state?.profile ?? null,
    profileFile: state?.phase === 'up' ? profileFileOf(stack) : null,
    startedAt: state?.startedAt ?? null,
    ports: state === null ? null : addressesOf(state.slot).ports,
    containers,
  };
}

export const status = async (): Promise<StackStatus[]> =>
  Promise.all((await knownStacks()).map(statusOf));

export function renderStatus(stacks: readonly StackStatus[]): string {
  if (stacks.length === 0) return 'no stack of hopdrill here ("hopdrill up" makes one)\n';
  return stacks
    .map(({ stack, phase, profile, ports, containers }) => {
      const where = ports === null ? '' : `, edge on 127.0.0.1:${ports.edge}`;
      const unwell = containers
        .filter(isDown)
        .map(
          (one) =>
            `  ${one.service}: ${one.state}${one.health === 'unhealthy' ? ', unhealthy' : ''}`,
        );
      return [
        `${stack}: ${phase}${profile ? ` (${profile})` : ''}, ${containers.length} containers${where}`,
        ...unwell,
        '',
      ].join('\n');
    })
    .join('');
}
