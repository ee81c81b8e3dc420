// Starts the containers of a stack through compose. Only the order of creation is compose's:
// readiness is asked over the wire.
import { join } from 'node:path';
import { execa } from 'execa';
import { type Addresses, composeEnvironment } from './addresses.ts';
import { repoRoot } from './bootstrap/machine.mjs';
import type { ImageName } from './images.ts';
import { projectOf } from './names.ts';

export const composeFile = join(repoRoot, 'docker-compose.chaos.yml');

export interface ComposeUp {
  readonly stack: string;
  readonly profile: string;
  readonly browser: boolean;
  readonly addresses: Addresses;
  readonly tags: Readonly<Record<ImageName, string>>;
  readonly signal: AbortSignal;
}

const tagOf = (image: string): string => image.slice(image.indexOf(':') + 1);

export async function composeUp({
  stack,
  profile,
  browser,
  addresses,
  tags,
  signal,
}: ComposeUp): Promise<void> {
  const env = {
    ...composeEnvironment(stack, profile, addresses),
    GPUAAS_TAG_SERVICES: tagOf(tags['gpuaas-services']),
    GPUAAS_TAG_NODE: tagOf(tags['gpuaas-node']),
    GPUAAS_TAG_TOXIPROXY: tagOf(tags['gpuaas-toxiproxy']),
    GPUAAS_TAG_BROWSER: tagOf(tags['gpuaas-browser']),
  };
  const words = [
    'compose',
    '-p',
    projectOf(stack),
    '-f',
    composeFile,
    ...(browser ? ['--profile', 'browser'] : []),
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
