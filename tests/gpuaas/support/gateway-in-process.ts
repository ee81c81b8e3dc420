import { generateKeyPairSync, randomUUID } from 'node:crypto';
import { mkdtempSync } from 'node:fs';
import type { Server } from 'node:http';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { WebSocket } from 'ws';
import { signToken } from '../../../fixtures/gpuaas/contract/signed-token.ts';
import { ApiClient } from '../../../fixtures/gpuaas/gateway/api-client.ts';
import { browserListener } from '../../../fixtures/gpuaas/gateway/browser-listener.ts';
import { Gateway } from '../../../fixtures/gpuaas/gateway/gateway.ts';
import { nodeListener } from '../../../fixtures/gpuaas/gateway/node-listener.ts';
import { Observations } from '../../../fixtures/gpuaas/gateway/observations.ts';
import { Refusal } from '../../../fixtures/gpuaas/gateway/refusal.ts';
import { TlsRefusals } from '../../../fixtures/gpuaas/gateway/tls-refusals.ts';
import type { Claims } from '../../../fixtures/gpuaas/gateway/token.ts';
import { issueServer, makeAuthority } from '../../../fixtures/gpuaas/pki/authority.ts';
import type { ClientMaterial } from './gateway-certificates.ts';
import { clientFor } from './gateway-certificates.ts';

export const OPERATOR = 'op_for-this-test';
const STREAM = 'gpuaas.node-stream.v1';

/** What a peer saw: an open socket with its frames, or the refusal it got before 101. */
export interface Peer {
  socket: WebSocket;
  status: number;
  body: { error?: { code: string; correlation_id: string } };
  frames: Record<string, unknown>[];
  bytes: Buffer[];
  closed: Promise<{ code: number; reason: string }>;
}

const listen = async (server: Server): Promise<number> => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return (server.address() as AddressInfo).port;
};

export function connect(url: string, protocols: string[], options: object): Promise<Peer> {
  const socket = new WebSocket(url, protocols, options);
  const closed = new Promise<{ code: number; reason: string }>((resolve) => {
    socket.on('close', (code, reason) => resolve({ code, reason: reason.toString() }));
  });
  const peer: Peer = { socket, status: 0, body: {}, frames: [], bytes: [], closed };
  socket.on('message', (data: Buffer, isBinary: boolean) => {
    if (isBinary) peer.bytes.push(data);
    else peer.frames.push(JSON.parse(data.toString()) as Record<string, unknown>);
  });
  return new Promise((resolve, reject) => {
    socket.on('open', () => resolve(Object.assign(peer, { status: 101 })));
    socket.on('unexpected-response', (_request, response) => {
      let text = '';
      response.on('data', (chunk: Buffer) => {
        text += chunk.toString();
      });
      response.on('end', () =>
        resolve(
          Object.assign(peer, {
            status: response.statusCode ?? 0,
            body: JSON.parse(text) as Peer['body'],
          }),
        ),
      );
    });
    socket.on('error', reject);
  });
}

/**
 * The gateway's own listeners and sessions, with an API that answers as told and a binding held in
 * memory.
 */
export async function startGateway() {
  const nodeCa = await makeAuthority('Test node CA');
  const serviceCa = await makeAuthority('Test service CA');
  const server = await issueServer(serviceCa, ['localhost'], 7);
  const { publicKey, privateKey } = generateKeyPairSync('ed25519');
  const api = {
    status: 202,
    body: { task_id: 'task-1' } as object,
    silent: false,
    calls: [] as { url: string; body: unknown }[],
  };
  const apiServer = createServer((request, response) => {
    let text = '';
    request.on('data', (chunk: Buffer) => {
      text += chunk.toString();
    });
    request.on('end', () => {
      api.calls.push({ url: request.url ?? '', body: JSON.parse(text) });
      const open = request.url?.endsWith('/open') === true;
      if (open && api.silent) return;
      response.writeHead(open ? api.status : 200).end(JSON.stringify(open ? api.body : {}));
    });
  });
  const apiPort = await listen(apiServer);
  const binding = { down: false, bound: new Set<string>() };
  const directory = mkdtempSync(join(tmpdir(), 'gateway-'));
  const gateway = new Gateway({
    api: new ApiClient('127.0.0.1', apiPort, 'svc'),
    binding: {
      bind: (claims: Claims) => {
        if (binding.down)
          return Promise.reject(new Refusal(503, 'session_binding_unavailable', 'down'));
        if (binding.bound.has(claims.sid))
          return Promise.reject(new Refusal(409, 'terminal_token_used', 'used'));
        binding.bound.add(claims.sid);
        return Promise.resolve();
      },
      stop: () => undefined,
    },
    observations: new Observations(directory),
    tlsRefusals: new TlsRefusals(directory),
    policies: { nodeStreamTimeoutMs: 400, ptyReadyTimeoutMs: 300, sessionTtlMs: 60_000 },
    tokenKey: publicKey,
    operatorToken: OPERATOR,
  });
  const browsers = browserListener(gateway);
  const tls = { cert: server.certificate, key: server.key, ca: nodeCa.certificate };
  const nodes = nodeListener(gateway, {
    cert: Buffer.from(tls.cert),
    key: Buffer.from(tls.key),
    ca: Buffer.from(tls.ca),
  });
  const [browserPort, nodePort] = [
    await listen(browsers),
    await listen(nodes as unknown as Server),
  ];
  const trusted = await clientFor(nodeCa, 'node-1');

  const mint = (changed: Partial<Claims> = {}) => {
    const sid = `s-${randomUUID()}`;
    const plain = {
      sid,
      allocation_id: 'alloc-1',
      node_id: 'node-1',
      username: 'gpu-a1',
      sub: 'user',
      correlation_id: `corr-${sid}`,
    };
    const claims: Claims = { ...plain, exp: Math.floor(Date.now() / 1000) + 30, ...changed };
    return { sid: claims.sid, token: signToken(claims, privateKey) };
  };
  const browser = (token: string, protocols = ['gpuaas.terminal.v1', `token.${token}`]) =>
    connect(`ws://127.0.0.1:${browserPort}/ws/terminal`, protocols, {});
  const node = (
    sid: string,
    client: ClientMaterial | null = trusted,
    stream = signToken({ typ: 'node-stream', sid }, privateKey),
    protocols = [STREAM],
  ) => {
    const url = `wss://127.0.0.1:${nodePort}/internal/v1/terminal/sessions/${sid}/stream`;
    const options = {
      ca: serviceCa.certificate,
      servername: 'localhost',
      headers: { authorization: `Bearer ${stream}` },
      ...client,
    };
    return connect(url, protocols, options);
  };
  const ask = async (path: string, token: string | null = OPERATOR) => {
    const headers = new Headers(token === null ? [] : [['authorization', `Bearer ${token}`]]);
    const response = await fetch(`http://127.0.0.1:${browserPort}${path}`, { headers });
    return {
      status: response.status,
      product: response.headers.get('x-gpuaas-product'),
      body: (await response.json()) as never,
    };
  };
  const stop = () => {
    gateway.leave();
    for (const one of [browsers, nodes, apiServer]) {
      one.close();
      one.closeAllConnections();
    }
  };
  return { api, binding, gateway, nodeCa, mint, browser, node, ask, stop, directory, browserPort };
}
