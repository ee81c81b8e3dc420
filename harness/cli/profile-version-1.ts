// A profile of version 1: what each of its keys is called now.
import { profileVersion } from '../records/profile.ts';
import type { Mistake } from '../yaml/mistake.ts';

type Path = readonly (string | number)[];
const now: Readonly<Record<string, string>> = {
  'public.apiBase': 'endpoints.api',
  'public.terminalBase': 'endpoints.terminal',
  'public.consoleBase': 'endpoints.console',
  'public.resolveAddress': 'connect.address',
  'public.caFile': 'connect.caFile',
  'provider.url': 'endpoints.provider',
  'browser.cdpUrl': 'endpoints.browser',
  'credentials.operatorTokenFile': 'credentials.operator',
  'credentials.userTokenFile': 'credentials.user',
  'credentials.edgeCookieFile': 'credentials.edge-cookie',
  'toxiproxy.url': 'links.toxiproxy',
  pageNotSeen: 'own.pageNotSeen',
  databaseNotAudited: 'database.notAudited',
};
const ofNode: Readonly<Record<string, string>> = {
  sshHost: 'ssh.host',
  sshPort: 'ssh.port',
  sshUser: 'ssh.user',
  sshKeyFile: 'ssh.keyFile',
  knownHostsFile: 'ssh.knownHostsFile',
  agentUser: 'agent.user',
  agentUnit: 'agent.unit',
  allocation: 'own.allocation',
  allocationUser: 'own.allocationUser',
};

export function renamedKeys(value: unknown): Mistake[] {
  const file = map(value);
  const old = (path: Path, name: string): Mistake => ({
    path,
    key: true,
    found: path.join('.'),
    allowed: `what it is called now: ${name}`,
  });
  const ofFile = Object.entries(now).flatMap(([key, name]) => {
    const [first = '', second] = key.split('.');
    const has =
      second === undefined ? file[first] !== undefined : map(file[first])[second] !== undefined;
    return has ? [old(key.split('.'), name)] : [];
  });
  const ofNodes = Object.entries(map(file.nodes)).flatMap(([node, facts]) =>
    Object.keys(map(facts)).flatMap((key) =>
      ofNode[key] === undefined ? [] : [old(['nodes', node, key], `nodes.${node}.${ofNode[key]}`)],
    ),
  );
  const version = { path: ['version'], found: '1', allowed: String(profileVersion) };
  return [version, ...ofFile, ...ofNodes];
}

const map = (value: unknown): Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
