// Starts the containers of a stack through compose. Only the order of creation is compose's:
// readiness is the preflight's.
import { execa } from 'execa';
import type { Addresses } from './addresses.ts';
import type { Tags } from './images/catalogue.ts';
import { ownImages } from './images/own.ts';
import { projectOf } from './names.ts';
import type { StackFile } from './read-declaration.ts';

export interface ComposeUp {
  readonly stack: string;
  readonly file: StackFile;
  readonly addresses: Addresses;
  /** Name of a set. */
  readonly policies: string | null;
  readonly options: readonly string[];
  readonly tags: Tags;
  readonly signal: AbortSignal;
}

/** The environment that the compose file reads. */
export function composeEnvironment(
  stack: string,
  file: StackFile,
  { network, port }: Addresses,
  policies: string | null,
): Record<string, string> {
  const given = (variables: Readonly<Record<string, string>>, values: object) =>
    Object.entries(variables).map(([name, variable]) => [
      variable,
      String((values as Readonly<Record<string, unknown>>)[name]),
    ]);
  return Object.fromEntries([
    ['HOPDRILL_STACK', stack],
    ...given(file.networks, network),
    ...given(file.ports, port),
    ...(file.policies && policies !== null ? [[file.policies.variable, policies]] : []),
  ]) as Record<string, string>;
}

const tagOf = (image: string): string => image.slice(image.indexOf(':') + 1);

function tagVariables({ images }: StackFile, tags: Tags): Record<string, string> {
  const own = ownImages
    .filter((name) => tags[name] !== undefined)
    .map((name) => [`${name.toUpperCase().replaceAll('-', '_')}_TAG`, tagOf(tags[name]!)]);
  const declared = Object.entries(images)
    .filter(([name, { tag }]) => tag !== undefined && tags[name] !== undefined)
    .map(([name, { tag }]) => [tag!, tagOf(tags[name]!)]);
  return Object.fromEntries([...own, ...declared]) as Record<string, string>;
}

export async function composeUp({
  stack,
  file,
  addresses,
  policies,
  options,
  tags,
  signal,
}: ComposeUp): Promise<void> {
  const env = {
    ...composeEnvironment(stack, file, addresses, policies),
    ...tagVariables(file, tags),
  };
  const profiles = options.flatMap((name) => file.options[name]?.['compose-profile'] ?? []);
  const words = [
    ...['compose', '-p', projectOf(stack), '-f', file.composeFile],
    ...profiles.flatMap((name) => ['--profile', name]),
  ];
  // In a group of its own: Ctrl-C must reach us alone, or compose would begin a stop of its own
  // while we take the stack down.
  const child = execa('docker', [...words, '--progress', 'plain', 'up', '-d', '--no-build'], {
    env,
    reject: false,
    stdin: 'ignore',
    all: true,
    detached: true,
  });
  // The client and its plugin are two processes; the group is killed, so that neither goes on
  // giving orders.
  const kill = () => child.pid !== undefined && process.kill(-child.pid, 'SIGKILL');
  signal.addEventListener('abort', kill, { once: true });
  const result = await child;
  signal.removeEventListener('abort', kill);
  signal.throwIfAborted();
  if (result.failed)
    throw new Error(`compose could not start the stack:\n${lastErrors(result.all)}`);
}

/** The lines of compose's output that are not mere progress. */
function lastErrors(output: string): string {
  const progress = /(Creating|Created|Starting|Started|Waiting|Exited|Healthy|Running)\s*$/;
  const lines = output.split('\n').filter((line) => line.trim() !== '' && !progress.test(line));
  return lines.slice(-8).join('\n');
}
