// Copies what operators and users of a stack hold out of its `secrets` volume, and asks the nodes
// for their host keys, through the engine: the one way that no fault on the network cuts.
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Addresses } from './addresses.ts';
import { docker, dockerQuietly } from './docker-cli.ts';
import { containerOf, stackDir } from './names.ts';

/** The file names in the folder of a stack; the profile names them too. */
export const files = {
  ca: 'ca.crt',
  knownHosts: 'known_hosts',
  opsKey: 'ops_key',
  operatorToken: 'operator-token',
  userToken: 'user-token',
  edgeCookie: 'edge-cookie',
  auditorPassword: 'auditor-db-password',
} as const;

/**
 * Works from the moment at which bootstrap has ended; a stopped container still shows its volumes.
 */
export async function copySecrets(stack: string): Promise<void> {
  const dir = stackDir(stack);
  mkdirSync(dir, { recursive: true, mode: 0o700 });
  const work = mkdtempSync(join(dir, '.secrets-'));
  try {
    const source = `${containerOf(stack, 'bootstrap')}:/secrets`;
    await Promise.all(
      ['operator', 'public'].map((folder) => docker(['cp', '-q', `${source}/${folder}`, work])),
    );
    for (const folder of ['operator', 'public']) {
      for (const name of readdirSync(join(work, folder))) {
        chmodSync(join(work, folder, name), 0o600);
        renameSync(join(work, folder, name), join(dir, name));
      }
    }
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

export const readSecret = (stack: string, name: string): string =>
  readFileSync(join(stackDir(stack), name), 'utf8').trim();

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
  { ports }: Addresses,
  signal: AbortSignal,
): Promise<void> {
  const nodes = [
    ['node-1', ports.node1Ssh],
    ['node-2', ports.node2Ssh],
  ] as const;
  const texts = await Promise.all(
    nodes.map(async ([node, port]) => {
      const keys = await hostKeys(stack, node, signal);
      return keys
        .map((key) => `[127.0.0.1]:${port} ${key.split(' ').slice(0, 2).join(' ')}\n`)
        .join('');
    }),
  );
  writeFileSync(join(stackDir(stack), files.knownHosts), texts.join(''), { mode: 0o600 });
}
