// Is the stack ready? Asked over the wire, as its users and operators would: the edge answers, both
// nodes poll, and a terminal on each of them does a sum.

import { setTimeout as sleep } from 'node:timers/promises';
import { messageOf } from '../base/message-of.ts';
import { type HttpResponse, request } from '../drivers/http.ts';
import { openTerminal, outputOf } from '../drivers/websocket.ts';
import type { Addresses } from './addresses.ts';
import { files, readSecret } from './credentials.ts';

const pollMs = 60;
const nodes = [
  { node: 'node-1', allocation: 'alloc-1' },
  { node: 'node-2', allocation: 'alloc-2' },
] as const;

export interface ReadinessContext {
  readonly stack: string;
  readonly addresses: Addresses;
  readonly signal: AbortSignal;
  /** Called at each condition that becomes true. */
  readonly reached: (what: string) => void;
  /** Called with what still stands in the way, so that a deadline can say it. */
  readonly waiting: (what: string, why: string) => void;
}

/** The stack is there when this resolves; it asks again until then, or until the signal. */
export async function untilReady(context: ReadinessContext): Promise<void> {
  await until(context, 'edge', () => edgeAnswers(context));
  await Promise.all(
    nodes.map(async ({ node, allocation }) => {
      await until(context, `${node} polls`, () => nodePolls(context, node));
      await until(context, `${node} terminal`, () => terminalAnswers(context, allocation));
    }),
  );
}

/** The question throws, with the reason, as long as the answer is no. */
async function until(
  context: ReadinessContext,
  what: string,
  question: () => Promise<void>,
): Promise<void> {
  for (;;) {
    try {
      await question();
      context.reached(what);
      return;
    } catch (error) {
      context.signal.throwIfAborted();
      context.waiting(what, messageOf(error));
      await sleep(pollMs, undefined, { signal: context.signal });
    }
  }
}

interface Call {
  readonly method?: string;
  readonly path: string;
  readonly tokenFile?: string;
}

/** One call of the public API through the edge; anything but the expected status is an error. */
async function call(
  { stack, addresses, signal }: ReadinessContext,
  { method = 'GET', path, tokenFile }: Call,
  expected: number,
) {
  const response: HttpResponse = await request({
    url: `https://api.gpuaas.test:${addresses.ports.edge}${path}`,
    method,
    headers: tokenFile ? { authorization: `Bearer ${readSecret(stack, tokenFile)}` } : {},
    ca: readSecret(stack, files.ca),
    resolveAddress: '127.0.0.1',
    timeoutMs: 2000,
    signal,
  });
  if (response.status !== expected)
    throw new Error(`${method} ${path}: ${response.status} ${response.body.slice(0, 200)}`);
  return JSON.parse(response.body) as unknown;
}

async function edgeAnswers(context: ReadinessContext): Promise<void> {
  await call(context, { path: '/healthz' }, 200);
}

async function nodePolls(context: ReadinessContext, node: string): Promise<void> {
  const found = (await call(
    context,
    { path: `/v1/nodes/${node}`, tokenFile: files.operatorToken },
    200,
  )) as {
    agent_status: string;
    heartbeat: { stale: boolean };
  };
  if (found.heartbeat.stale)
    throw new Error(`${node}: no heartbeat yet (agent ${found.agent_status})`);
}

async function terminalAnswers(context: ReadinessContext, allocation: string): Promise<void> {
  const { stack, addresses } = context;
  const path = `/v1/allocations/${allocation}/terminal-token`;
  const minted = (await call(
    context,
    { method: 'POST', path, tokenFile: files.userToken },
    201,
  )) as { token: string };
  const terminal = await openTerminal({
    url: `wss://terminal.gpuaas.test:${addresses.ports.edge}/ws/terminal`,
    protocols: ['gpuaas.terminal.v1', `token.${minted.token}`],
    cookie: `gpuaas_edge=${readSecret(stack, files.edgeCookie)}`,
    ca: readSecret(stack, files.ca),
    resolveAddress: '127.0.0.1',
    timeoutMs: 6000,
  });
  try {
    await terminal.waitFor((frames) =>
      frames.some((frame) => frame.kind === 'text' && frame.text.includes('"ready"')),
    );
    terminal.send('echo $((6*7))\r');
    // The shell's answer on a line of its own; the echo of what was typed has no 42 in it.
    await terminal.waitFor((frames) => /(^|[\r\n])42\r?\n/.test(outputOf(frames)));
  } finally {
    await terminal.close();
  }
}

/** The numbers of the stack's policies, as its API declares them. */
export async function readPolicies(context: ReadinessContext): Promise<Record<string, number>> {
  const found = (await call(
    context,
    { path: '/v1/policies', tokenFile: files.operatorToken },
    200,
  )) as Record<string, unknown>;
  return Object.fromEntries(
    Object.entries(found).filter((pair): pair is [string, number] => typeof pair[1] === 'number'),
  );
}
