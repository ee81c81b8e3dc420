// Every question to the public API and to the gateway, each at most once unless it says "anew".
import { readFile } from 'node:fs/promises';
import type { Policies, Request, RunHandle } from '../../../preflight/types.ts';
import { text } from '../flags.ts';
import { publicSeconds, seedDefaults } from '../policies.ts';
import { type Credentials, hasOperator } from './credentials.ts';
import { type Answer, at, type Client, granted, num, openClient, str } from './http.ts';
import { once } from './lazy.ts';

export interface PublicSide {
  readonly publicTrust: () => Promise<{ ca?: string; resolveAddress?: string }>;
  readonly api: () => Promise<Client>;
  readonly gateway: () => Promise<Client>;
  readonly policies: () => Promise<Policies>;
  readonly nodeId: () => Promise<string>;
  readonly allocation: () => Promise<Answer>;
  /** The first reading; `readNode` asks anew. */
  readonly node: () => Promise<Answer>;
  readonly readNode: () => Promise<Answer>;
  readonly profile: () => Promise<Answer>;
  readonly mint: () => Promise<Answer>;
  readonly healthz: () => Promise<Answer>;
  readonly task: () => Promise<Answer>;
  readonly sessionId: () => Promise<string | null>;
}

type Ask = (path: string, options?: Parameters<Client>[1]) => Promise<Answer>;

function clients(request: Request, run: RunHandle) {
  const publicTrust = once(async () => {
    const file = text(request, 'ca-file');
    const resolveAddress = text(request, 'resolve-address');
    return {
      ...(file !== undefined && { ca: await readFile(file, 'utf8') }),
      ...(resolveAddress !== undefined && { resolveAddress }),
    };
  });
  const clientOf = (flag: string) =>
    once(async (): Promise<Client> => {
      const { correlationId, signal, defer } = run;
      return openClient({
        base: text(request, flag) ?? '',
        correlationId,
        ...(await publicTrust()),
        signal,
        timeoutMs: publicSeconds * 1000,
        defer,
      });
    });
  return { publicTrust, api: clientOf('api-base'), gateway: clientOf('terminal-base') };
}

const policiesOf = (request: Request, ask: Ask) =>
  once(async (): Promise<Policies> => {
    if (text(request, 'api-base') === undefined || !hasOperator(request)) return seedDefaults;
    const answer = await ask('/v1/policies').catch(() => null);
    if (
      answer === null ||
      !granted(answer) ||
      typeof answer.json !== 'object' ||
      answer.json === null
    )
      return seedDefaults;
    const numbers = Object.entries(answer.json).filter(
      (entry): entry is [string, number] => num(entry[1]) !== null,
    );
    return { ...seedDefaults, ...Object.fromEntries(numbers) };
  });

export function publicSide(
  request: Request,
  run: RunHandle,
  { operator, user, cookie }: Credentials,
): PublicSide {
  const { publicTrust, api, gateway } = clients(request, run);
  const asking =
    (...tokens: readonly (() => Promise<string | undefined>)[]): Ask =>
    async (path, options = {}) => {
      let token: string | undefined;
      for (const get of tokens) token ??= await get();
      return (await api())(path, { ...options, ...(token !== undefined && { token }) });
    };
  const asOperator = asking(operator);
  const allocationPath = `/v1/allocations/${encodeURIComponent(text(request, 'allocation-id') ?? '')}`;
  const hasAllocation = text(request, 'allocation-id') !== undefined;
  const allocation = once(() => asking(operator, user)(allocationPath));
  const nodeId = once(async () => {
    const given = text(request, 'node-id');
    if (given !== undefined) return given;
    const answer = hasAllocation ? await allocation() : null;
    return (answer && granted(answer) && str(at(answer.json, 'node_id'))) || 'unknown';
  });
  const nodePath = async () => `/v1/nodes/${encodeURIComponent(await nodeId())}`;
  const readNode = async () => asOperator(await nodePath());
  const mint = once(() =>
    asking(user)(`${allocationPath}/terminal-token`, { method: 'POST', body: {} }),
  );
  return {
    publicTrust,
    api,
    gateway,
    policies: policiesOf(request, asOperator),
    nodeId,
    allocation,
    readNode,
    node: once(readNode),
    profile: once(() => asOperator('/v1/profile')),
    mint,
    sessionId: async () => {
      const minted = hasAllocation ? await mint() : null;
      return minted && granted(minted) ? str(at(minted.json, 'session_id')) : null;
    },
    healthz: once(async () => {
      const value = await cookie();
      return (await gateway())('/healthz', value === undefined ? {} : { cookie: value });
    }),
    task: once(async () =>
      asOperator(`${await nodePath()}/tasks`, {
        method: 'POST',
        body: { task_type: 'diag.health_probe', params: {} },
      }),
    ),
  };
}
