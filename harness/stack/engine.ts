// What the engine holds of stacks.
import { docker, dockerQuietly } from './docker-cli.ts';
import { stackLabel } from './names.ts';

const lines = (text: string): string[] => text.split('\n').filter((line) => line !== '');

const listCommands = {
  container: ['container', 'ls', '-a', '--format', '{{.ID}}'],
  network: ['network', 'ls', '--format', '{{.ID}}'],
  volume: ['volume', 'ls', '--format', '{{.Name}}'],
} as const;
export type Kind = keyof typeof listCommands;

/** Everything of one kind that carries the label, whatever state it is in. */
export async function labelled(kind: Kind, stack: string): Promise<string[]> {
  return lines(await docker([...listCommands[kind], '--filter', `label=${stackLabel}=${stack}`]));
}

/** The stacks of which the engine still holds anything. */
export async function stacksInEngine(): Promise<string[]> {
  const format = `{{.Label "${stackLabel}"}}`;
  const texts = await Promise.all(
    (['container', 'network', 'volume'] as const).map((kind) =>
      docker([
        kind,
        'ls',
        ...(kind === 'container' ? ['-a'] : []),
        '--filter',
        `label=${stackLabel}`,
        '--format',
        format,
      ]),
    ),
  );
  return [...new Set(texts.flatMap(lines))].sort();
}

export interface ContainerState {
  readonly service: string;
  readonly container: string;
  readonly state: string;
  readonly health: string | null;
  readonly restarts: number;
  readonly exitCode: number;
  /** It does its work and ends; every other part has to run. */
  readonly endsByItself: boolean;
}

const compose = 'com.docker.compose';

interface Inspected {
  Name: string;
  RestartCount: number;
  State: { Status: string; ExitCode: number; Health?: { Status: string } };
  Config: { Labels: Record<string, string> };
}

export async function containersOf(stack: string): Promise<ContainerState[]> {
  const ids = await labelled('container', stack);
  if (ids.length === 0) return [];
  // One may go between the two questions, when somebody takes a stack down; the others are told all
  // the same.
  const found = JSON.parse(
    (await dockerQuietly(['container', 'inspect', ...ids])) || '[]',
  ) as Inspected[];
  const dependencies = found.map((one) => one.Config.Labels[`${compose}.depends_on`] ?? '').join();
  const ends = (service: string): boolean =>
    dependencies.includes(`${service}:service_completed_successfully`);
  return found
    .map((one) => ({ ...one, service: one.Config.Labels[`${compose}.service`] ?? '?' }))
    .map(({ service, ...one }) => ({
      service,
      container: one.Name.replace(/^\//, ''),
      state: one.State.Status,
      health: one.State.Health?.Status ?? null,
      restarts: one.RestartCount,
      exitCode: one.State.ExitCode,
      endsByItself: ends(service),
    }))
    .sort((a, b) => (a.service < b.service ? -1 : 1));
}

/** Every subnet that a network of the engine holds. */
export async function takenSubnets(): Promise<string[]> {
  const ids = lines(await docker(['network', 'ls', '-q']));
  const format = '{{range .IPAM.Config}}{{.Subnet}}\n{{end}}';
  return lines(await docker(['network', 'inspect', '--format', format, ...ids]));
}
