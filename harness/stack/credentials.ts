// Copies what operators and users of a stack hold out of its parts, and asks the nodes for their host
// keys, through the engine: the one way that no fault on the network cuts.
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Addresses } from './addresses.ts';
import { docker, dockerQuietly } from './docker-cli.ts';
import { containerOf, stackDir } from './names.ts';
import type { StackFile } from './read-declaration.ts';

/** A stopped container still shows its volumes, so a part that has made them and ended will do. */
export async function fetchFiles(stack: string, { fetch }: StackFile): Promise<void> {
  const dir = stackDir(stack);
  mkdirSync(dir, { recursive: true, mode: 0o700 });
  const work = mkdtempSync(join(dir, '.fetched-'));
  try {
    await Promise.all(
      fetch.map(async (place, index) => {
        const [part = '', folder = ''] = place.split(':');
        const into = join(work, String(index));
        mkdirSync(into);
        await docker(['cp', '-q', `${containerOf(stack, part)}:${folder}/.`, into]);
        for (const name of readdirSync(into)) {
          chmodSync(join(into, name), 0o600);
          renameSync(join(into, name), join(dir, name));
        }
      }),
    );
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

const isHostKey = (line: string): boolean => /^(ssh-|ecdsa-)\S+ \S+/.test(line);

async function hostKeys(stack: string, node: string, signal: AbortSignal): Promise<string[]> {
  for (;;) {
    // A node makes its keys at first boot, a moment after its container has started.
    const text = await dockerQuietly([
      'exec',
      containerOf(stack, node),
      'sh',
      '-c',
      'cat /etc/ssh/ssh_host_*_key.pub',
    ]);
    const keys = text.split('\n').filter(isHostKey);
    if (keys.length > 0) return keys;
    await sleep(150, undefined, { signal });
  }
}

/** The host keys under the addresses at which people reach the nodes, in the format of OpenSSH. */
export async function writeKnownHosts(
  stack: string,
  file: StackFile,
  { port }: Addresses,
  signal: AbortSignal,
): Promise<void> {
  const texts = await Promise.all(
    Object.entries(file['ssh-nodes']).map(async ([node, name]) => {
      const keys = await hostKeys(stack, node, signal);
      return keys
        .map((key) => `[127.0.0.1]:${port[name]} ${key.split(' ').slice(0, 2).join(' ')}\n`)
        .join('');
    }),
  );
  if (texts.length > 0)
    writeFileSync(join(stackDir(stack), 'known_hosts'), texts.join(''), { mode: 0o600 });
}
