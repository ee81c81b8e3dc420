// A profile of version 1: what each of its keys is called now.
import { profileVersion } from '../records/profile.ts';
import type { RenamedKeys } from '../systems/define.ts';
import type { Mistake } from '../yaml/mistake.ts';

/** What a system calls its own is its matter. */
const ofEverySystem: RenamedKeys = {
  file: {
    'public.resolveAddress': 'connect.address',
    'public.caFile': 'connect.caFile',
    'toxiproxy.url': 'links.toxiproxy',
    databaseNotAudited: 'database.notAudited',
  },
  node: {
    sshHost: 'ssh.host',
    sshPort: 'ssh.port',
    sshUser: 'ssh.user',
    sshKeyFile: 'ssh.keyFile',
    knownHostsFile: 'ssh.knownHostsFile',
    agentUser: 'agent.user',
    agentUnit: 'agent.unit',
  },
};

export function renamedKeys(value: unknown, ofSystem: RenamedKeys | undefined): Mistake[] {
  const file = map(value);
  const ofFile = renamedIn(file, [], { ...ofEverySystem.file, ...ofSystem?.file });
  const ofNodes = Object.entries(map(file.nodes)).flatMap(([node, facts]) =>
    renamedIn(map(facts), ['nodes', node], { ...ofEverySystem.node, ...ofSystem?.node }),
  );
  const version = { path: ['version'], found: '1', allowed: String(profileVersion) };
  return [version, ...ofFile, ...ofNodes];
}

function renamedIn(
  value: Readonly<Record<string, unknown>>,
  at: readonly string[],
  names: Readonly<Record<string, string>>,
): Mistake[] {
  return Object.entries(names).flatMap(([key, now]) => {
    const [first = '', second] = key.split('.');
    const has = second === undefined ? value[first] : map(value[first])[second];
    if (has === undefined) return [];
    const path = [...at, ...key.split('.')];
    const allowed = `what it is called now: ${[...at, now].join('.')}`;
    return [{ path, key: true, found: path.join('.'), allowed }];
  });
}

const map = (value: unknown): Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
