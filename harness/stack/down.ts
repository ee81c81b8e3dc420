// Takes a stack away: whatever carries its label, in whatever state a killed session or a restarted
// engine left it.
import { rmSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { dockerQuietly } from './docker-cli.ts';
import { type Kind, labelled, stacksInEngine } from './engine.ts';
import { disksIn, releaseLoops } from './loops.ts';
import { stackDir, stacksWithState } from './names.ts';

export interface Removed {
  readonly stack: string;
  readonly containers: number;
  readonly networks: number;
  readonly volumes: number;
  readonly loops: number;
}

/** A network is removed only when nothing hangs on it, be it somebody else's container. */
async function removeNetwork(id: string): Promise<void> {
  const attached = await dockerQuietly([
    'network',
    'inspect',
    '--format',
    '{{range $id, $_ := .Containers}}{{$id}}\n{{end}}',
    id,
  ]);
  for (const container of attached.split('\n').filter((line) => line !== '')) {
    await dockerQuietly(['network', 'disconnect', '-f', id, container]);
  }
  await dockerQuietly(['network', 'rm', id]);
}

const removers: Record<Kind, (ids: string[]) => Promise<unknown>> = {
  container: (ids) => dockerQuietly(['container', 'rm', '-f', '-v', ...ids]),
  network: (ids) => Promise.all(ids.map(removeNetwork)),
  volume: (ids) => dockerQuietly(['volume', 'rm', '-f', ...ids]),
};

async function removeAll(stack: string): Promise<Record<Kind | 'loops', number>> {
  const counts = { container: 0, network: 0, volume: 0, loops: 0 };
  const disks = await disksIn(await labelled('volume', stack));
  for (let round = 0; round < 6; round += 1) {
    let found = 0;
    for (const kind of ['container', 'network', 'volume'] as const) {
      const ids = await labelled(kind, stack);
      found += ids.length;
      counts[kind] = Math.max(counts[kind], ids.length);
      if (ids.length > 0) await removers[kind](ids);
      // Between containers and volumes: while the disks are there, their inodes are nobody else's.
      if (kind === 'container') counts.loops += await releaseLoops(disks);
    }
    if (found === 0) return counts;
    // An order given just before a client was killed may still be carried out by the engine.
    if (round > 0) await sleep(200 * round);
  }
  throw new Error(
    `stack ${stack}: the engine still holds parts of it (docker ps -a --filter label=dev.hopdrill.stack=${stack})`,
  );
}

export async function down(stack: string): Promise<Removed> {
  const dir = stackDir(stack);
  const counts = await removeAll(stack);
  rmSync(dir, { recursive: true, force: true });
  return {
    stack,
    containers: counts.container,
    networks: counts.network,
    volumes: counts.volume,
    loops: counts.loops,
  };
}

/** Every stack that this machine remembers or the engine holds. */
export async function knownStacks(): Promise<string[]> {
  return [...new Set([...stacksWithState(), ...(await stacksInEngine())])].sort();
}
