import type { Flag, Request } from '../../preflight/types.ts';

/**
 * The seeds' helper flags (both command forms), and what a deployment of its own needs beside them.
 */
export const flags: readonly Flag[] = [
  {
    name: 'api-base',
    kind: 'url',
    says: 'platform',
    help: 'public API, e.g. https://api.example.test',
    lacking: 'everything that the platform itself says',
  },
  {
    name: 'terminal-base',
    kind: 'url',
    help: 'public terminal gateway',
    lacking: 'the browser side of the terminal',
  },
  {
    name: 'allocation-id',
    kind: 'text',
    help: 'the allocation whose terminal is probed',
    lacking: 'allocation, token and terminal hops',
  },
  {
    name: 'node-id',
    kind: 'text',
    says: 'node',
    help: 'the node; taken from the allocation when absent',
  },
  {
    name: 'node-host',
    kind: 'text',
    says: 'platform',
    help: 'address or name of the node for SSH',
    lacking: 'everything that is probed from the node',
  },
  { name: 'node-user', kind: 'text', help: 'user for SSH (default ubuntu)' },
  { name: 'node-ssh-port', kind: 'port', help: 'port for SSH (default 22)' },
  { name: 'known-hosts', kind: 'file', help: 'pinned host keys (default ~/.ssh/known_hosts)' },
  {
    name: 'ssh-key',
    kind: 'file',
    secret: true,
    help: 'private key for SSH (default ~/.ssh/id_ed25519)',
  },
  { name: 'agent-user', kind: 'text', help: 'user that the node agent runs as (default gpuaas)' },
  {
    name: 'agent-unit',
    kind: 'text',
    help: 'unit of the node agent (default gpuaas-node-agent.service)',
  },
  {
    name: 'node-runtime-api-url',
    kind: 'url',
    help: 'node-facing API that the profile declares; probed beside the one that the agent really uses',
  },
  {
    name: 'node-runtime-resolve-address',
    kind: 'address',
    help: 'address of that API, tried beside what the node resolves',
  },
  {
    name: 'node-terminal-url',
    kind: 'url',
    help: 'node-facing terminal listener that the profile declares',
  },
  {
    name: 'node-terminal-resolve-address',
    kind: 'address',
    help: 'address of that listener, tried beside what the node resolves',
  },
  {
    name: 'resolve-address',
    kind: 'address',
    help: 'address for the public names, in place of what this machine resolves',
  },
  { name: 'ca-file', kind: 'file', help: 'CA certificates for the public names' },
  {
    name: 'operator-token-file',
    kind: 'file',
    secret: true,
    help: 'operator token (or HOPDRILL_OPERATOR_TOKEN)',
    lacking: 'heartbeat, tasks, gateway records',
  },
  {
    name: 'user-token-file',
    kind: 'file',
    secret: true,
    help: 'token of a member of the project (or HOPDRILL_USER_TOKEN)',
    lacking: 'terminal token and session',
  },
  {
    name: 'edge-cookie-file',
    kind: 'file',
    secret: true,
    help: 'name=value of the edge login cookie (or HOPDRILL_EDGE_COOKIE)',
    lacking: 'browser-equivalent proof',
  },
  {
    name: 'provider-url',
    kind: 'url',
    help: 'provider API that tells the guest agent state',
    lacking: 'the guest agent half of node_ops_access',
  },
  { name: 'environment', kind: 'text', help: 'name of the environment, for the report' },
  {
    name: 'compare-profile',
    kind: 'file',
    help: 'saved JSON report of an environment in which the same node path works',
  },
  {
    name: 'attach',
    kind: 'switch',
    help: 'hand the diagnostic record found on the node to the platform as host evidence',
  },
  {
    name: 'run-ws-smoke',
    kind: 'switch',
    help: 'browser WebSocket smoke: terminal upgrade even without an allocation, and the notification socket',
  },
  {
    name: 'browser',
    kind: 'url',
    help: 'CDP address of a browser that opens the console page (adds browser_terminal_page)',
  },
  { name: 'console-base', kind: 'url', help: 'public console, for --browser' },
];

export const text = (request: Request, name: string): string | undefined => {
  const value = request.flags[name];
  return typeof value === 'string' ? value : undefined;
};

export const number = (request: Request, name: string, otherwise: number): number => {
  const value = request.flags[name];
  return typeof value === 'number' ? value : otherwise;
};

export const on = (request: Request, name: string): boolean => request.flags[name] === true;

/** Mistakes that only show when two flags are looked at together. */
export function checkFlags(given: Request['flags']): string[] {
  const errors: string[] = [];
  const needs = (flag: string, other: string) => {
    if (given[flag] !== undefined && given[other] === undefined)
      errors.push(`found: --${flag} without --${other} | allowed: both`);
  };
  if (given['api-base'] === undefined && given['node-host'] === undefined)
    errors.push(
      'found: neither --api-base nor --node-host | allowed: at least one of them, or --profile',
    );
  if (
    given['node-id'] === undefined &&
    given['allocation-id'] === undefined &&
    given['api-base'] !== undefined
  )
    errors.push('found: neither --node-id nor --allocation-id | allowed: at least one of them');
  needs('node-runtime-resolve-address', 'node-runtime-api-url');
  needs('node-terminal-resolve-address', 'node-terminal-url');
  needs('allocation-id', 'api-base');
  needs('browser', 'console-base');
  needs('attach', 'node-host');
  return errors;
}
