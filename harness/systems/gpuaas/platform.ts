import { readFileSync } from 'node:fs';
import { declared, measure } from '../../base/spans.ts';
import { until } from '../../base/until.ts';
import { type HttpResponse, request } from '../../drivers/http.ts';
import { connectSsh, type SshResult } from '../../drivers/ssh.ts';
import type { Profile } from '../../records/profile.ts';
import { type HookContext, Refused } from '../hooks.ts';
import { edgeCookieOf } from './cookie.ts';
import { endpointOf, factsOf, type NodeFacts } from './deployment.ts';

/**
 * How the hooks of this system talk to the platform: its public API as operator or as user, and a
 * node over SSH.
 */
export type Role = 'operator' | 'user';

export function readSecret(file: string | undefined, what: string): string {
  if (file === undefined) throw new Error(`the profile names no ${what} file`);
  return readFileSync(file, 'utf8').trim();
}

export const tokenOf = ({ credentials }: Profile, role: Role): string =>
  readSecret(credentials[role], `${role} token`);

export const cookieOf = ({ credentials }: Profile): string =>
  edgeCookieOf(readSecret(credentials['edge-cookie'], 'edge cookie'));

export function transportOf({ connect }: Profile): { ca?: string; resolveAddress?: string } {
  const { caFile, address } = connect;
  return {
    ...(caFile !== undefined && { ca: readFileSync(caFile, 'utf8') }),
    ...(address !== undefined && { resolveAddress: address }),
  };
}

export async function ask(
  context: HookContext,
  method: string,
  path: string,
  options: { as?: Role; body?: unknown } = {},
): Promise<HttpResponse> {
  const { profile } = context;
  return measure('driver', `${method} ${path}`, () =>
    request({
      url: `${endpointOf(profile, 'api')}${path}`,
      method,
      headers: {
        authorization: `Bearer ${tokenOf(profile, options.as ?? 'operator')}`,
        'x-correlation-id': `${context.runId}-hook`.slice(0, 80),
        ...(options.body !== undefined && { 'content-type': 'application/json' }),
      },
      ...(options.body !== undefined && { body: JSON.stringify(options.body) }),
      ...transportOf(profile),
      timeoutMs: 5000,
    }),
  );
}

/** The answer's JSON, or an error that says what came instead. */
export async function api<T>(
  context: HookContext,
  method: string,
  path: string,
  options: { as?: Role; body?: unknown } = {},
): Promise<T> {
  const answer = await ask(context, method, path, options);
  if (answer.status < 200 || answer.status > 299)
    throw new Refused(`${method} ${path} answered ${answer.status}: ${answer.body.slice(0, 200)}`);
  return JSON.parse(answer.body) as T;
}

/** What the gateway tells operators; it stands behind the public terminal address. */
export async function gatewayApi<T>({ profile }: HookContext, path: string): Promise<T> {
  const url = `${endpointOf(profile, 'terminal')}${path}`;
  const headers = { authorization: `Bearer ${tokenOf(profile, 'operator')}` };
  const answer = await measure('driver', `GET ${path}`, () =>
    request({ url, headers, ...transportOf(profile), timeoutMs: 5000 }),
  );
  if (answer.status !== 200)
    throw new Error(`GET ${path} answered ${answer.status}: ${answer.body.slice(0, 200)}`);
  return JSON.parse(answer.body) as T;
}

/** The node that the run is about. */
export function nodeOf(context: HookContext): { name: string; node: Node & NodeFacts } {
  const name = context.node ?? Object.keys(context.profile.nodes)[0];
  const node = name === undefined ? undefined : context.profile.nodes[name];
  if (name === undefined || node === undefined) throw new Error('the profile has no such node');
  return { name, node: { ...node, ...factsOf(node) } };
}
type Node = Profile['nodes'][string];

/** One command as root on the run's node, over SSH as an operator would. */
export async function onNode(
  context: HookContext,
  argv: readonly string[],
  stdin?: string,
  timeoutMs = 15_000,
): Promise<SshResult> {
  const { name, node } = nodeOf(context);
  if (node.ssh === undefined) throw new Error(`the profile names no SSH of ${name}`);
  const connection = await connectSsh(node.ssh);
  try {
    return await connection.exec(argv, {
      sudo: true,
      timeoutMs,
      ...(stdin !== undefined && { stdin }),
    });
  } finally {
    connection.close();
  }
}

export async function mustOnNode(
  context: HookContext,
  argv: readonly string[],
  stdin?: string,
  timeoutMs?: number,
): Promise<string> {
  const result = await onNode(context, argv, stdin, timeoutMs);
  if (result.code !== 0)
    throw new Refused(
      `${argv.join(' ')} exited ${result.code ?? result.signal}: ${(result.stderr || result.stdout).trim().slice(0, 300)}`,
    );
  return result.stdout;
}

export interface NodeModel {
  readonly agent_status: string;
  readonly lifecycle: string;
  readonly heartbeat: {
    at: string | null;
    age_ms: number;
    stale: boolean;
    cert_not_after: string | null;
    cert_serial: string | null;
    instance_id: string | null;
  };
  readonly recovery: { reason: string | null; user_state: string; message: string };
  readonly tasks: {
    queued: number;
    dispatched: number;
    expired_queued: number;
    failed_results: number;
  };
  readonly counters: Readonly<Record<string, number>>;
}

export interface AllocationModel {
  readonly allocation_id: string;
  readonly state: string;
  readonly app: {
    status: string;
    observation_stale: boolean;
    last_observation_at: string | null;
  } | null;
  readonly user: { state: string; message: string };
}

export const nodeModel = (context: HookContext): Promise<NodeModel> =>
  api<NodeModel>(context, 'GET', `/v1/nodes/${nodeOf(context).name}`);

export const allocationModel = (
  context: HookContext,
  as: Role = 'operator',
): Promise<AllocationModel> =>
  api<AllocationModel>(context, 'GET', `/v1/allocations/${nodeOf(context).node.allocation}`, {
    as,
  });

export async function taskDone(
  context: HookContext,
  taskId: string,
  withinMs: number,
): Promise<{ status: string; error: string | null }> {
  const ask = () =>
    api<{ status: string; error: string | null }>(context, 'GET', `/v1/tasks/${taskId}`);
  const isOver = ({ status }: { status: string }) => !['queued', 'dispatched'].includes(status);
  return (await until(ask, isOver, declared('task', { everyMs: 100, withinMs }))).answer;
}
