// Writes the profile of a stack: where it is, how to reach it, how to break and repair each part.
import { renameSync, writeFileSync } from 'node:fs';
import { stringify } from 'yaml';
import { type Profile, profile as profileSchema, profileVersion } from '../records/profile.ts';
import type { Addresses } from './addresses.ts';
import { files } from './credentials.ts';
import { containerOf } from './names.ts';
import { profileFileOf } from './state.ts';

const parts = [
  'api',
  'db',
  'dns',
  'edge',
  'gateway',
  'ingress',
  'links',
  'provider',
  'redis',
] as const;

export interface ProfileFacts {
  readonly stack: string;
  readonly addresses: Addresses;
  readonly environment: string;
  readonly browser: boolean;
  readonly policies: Readonly<Record<string, number>>;
}

const publicHost = (name: string, port: number): string => `https://${name}.gpuaas.test:${port}`;

export function profileOf({
  stack,
  addresses,
  environment,
  browser,
  policies,
}: ProfileFacts): Profile {
  const { ports, core } = addresses;
  const node = (name: string, port: number, allocation: string, allocationUser: string) => ({
    ssh: {
      ...{ host: '127.0.0.1', port, user: 'ubuntu' },
      ...{ keyFile: files.opsKey, knownHostsFile: files.knownHosts },
    },
    lifeline: { kind: 'docker', container: containerOf(stack, name) },
    agent: { unit: 'gpuaas-node-agent.service', user: 'gpuaas' },
    own: { allocation, allocationUser },
  });
  // Both services reach the database through the link, so that is the address that it sees.
  const writer = (name: string) => ({
    role: `gpuaas_${name}`,
    address: `${core}.20`,
    application: `gpuaas-${name}`,
  });
  return profileSchema.parse({
    version: profileVersion,
    system: 'gpuaas',
    stack,
    disposable: true,
    environment,
    policies,
    endpoints: {
      api: publicHost('api', ports.edge),
      terminal: publicHost('terminal', ports.edge),
      console: publicHost('console', ports.edge),
      provider: `http://127.0.0.1:${ports.provider}`,
      ...(browser && { browser: `http://127.0.0.1:${ports.browser}` }),
    },
    credentials: {
      operator: files.operatorToken,
      user: files.userToken,
      'edge-cookie': files.edgeCookie,
    },
    connect: { address: '127.0.0.1', caFile: files.ca },
    nodes: {
      'node-1': node('node-1', ports.node1Ssh, 'alloc-1', 'gpu-a1'),
      'node-2': node('node-2', ports.node2Ssh, 'alloc-2', 'gpu-a2'),
    },
    parts: Object.fromEntries(parts.map((part) => [part, { container: containerOf(stack, part) }])),
    links: { toxiproxy: `http://127.0.0.1:${ports.links}`, part: 'links' },
    watchdog: 'here',
    database: {
      host: '127.0.0.1',
      port: ports.db,
      name: 'gpuaas',
      user: 'gpuaas_auditor',
      passwordFile: files.auditorPassword,
      part: 'db',
      writers: [writer('api'), writer('sweeper')],
    },
    own: browser ? {} : { pageNotSeen: 'brought up without --browser' },
  });
}

export function writeProfile(facts: ProfileFacts): string {
  const file = profileFileOf(facts.stack);
  const text = `# Written by "hopdrill up"; paths are relative to this file.\n${stringify(profileOf(facts))}`;
  writeFileSync(`${file}.new`, text, { mode: 0o600 });
  renameSync(`${file}.new`, file);
  return file;
}
