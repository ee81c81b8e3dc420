// The three listeners that a node agent talks to, as small as they can be: real TLS, real
// signatures, no database.
import { generateKeyPairSync, randomUUID, type X509Certificate } from 'node:crypto';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { TLSSocket } from 'node:tls';
import 'reflect-metadata';
import * as x509 from '@peculiar/x509';
import { type WebSocket, WebSocketServer } from 'ws';
import {
  type SignedTask,
  signTask,
  verifierEntry,
} from '../../../fixtures/gpuaas/contract/task-payload.ts';
import {
  type Authority,
  issueServer,
  makeAuthority,
  serialNumber,
} from '../../../fixtures/gpuaas/pki/authority.ts';

export interface Posted {
  readonly path: string;
  readonly body: Record<string, unknown>;
}

const signing = { name: 'ECDSA', hash: 'SHA-256' };

export async function issueNode(
  authority: Authority,
  nodeId: string,
  csr: string,
  life: { from?: number; to?: number } = {},
): Promise<string> {
  const request = new x509.Pkcs10CertificateRequest(csr);
  const certificate = await x509.X509CertificateGenerator.create({
    serialNumber: serialNumber(),
    subject: `CN=${nodeId}`,
    issuer: authority.subject,
    notBefore: new Date(life.from ?? Date.now() - 60_000),
    notAfter: new Date(life.to ?? Date.now() + 3_600_000),
    signingAlgorithm: signing,
    publicKey: request.publicKey,
    signingKey: authority.signingKey,
    extensions: [
      new x509.ExtendedKeyUsageExtension([x509.ExtendedKeyUsage.clientAuth]),
      new x509.SubjectAlternativeNameExtension([{ type: 'url', value: `gpuaas:node:${nodeId}` }]),
    ],
  });
  return `${certificate.toString('pem')}\n`;
}

async function bodyOf(request: IncomingMessage): Promise<Record<string, unknown>> {
  let text = '';
  for await (const chunk of request) text += String(chunk);
  return text === '' ? {} : (JSON.parse(text) as Record<string, unknown>);
}

export class MiniPlatform {
  readonly nodeCa: Authority;
  readonly serviceCa: Authority;
  readonly taskKey = generateKeyPairSync('ed25519').privateKey;
  readonly tasks: SignedTask[] = [];
  readonly results = new Map<string, Record<string, unknown>[]>();
  readonly posts: Posted[] = [];
  readonly polls: { at: number; headers: IncomingMessage['headers']; serial: string | null }[] = [];
  readonly streams = new Map<string, WebSocket>();
  onStream: (sid: string, stream: WebSocket) => void = () => {};
  token = 'enrolment-token';
  enrolments = 0;
  certificateLife: { from?: number; to?: number } = {};
  /** Answers in the place of the normal ones, by path. */
  refuse: (path: string, response: ServerResponse) => boolean = () => false;
  /** What the ingress would say of a certificate that it does not know. */
  trusts: (certificate: X509Certificate) => boolean = () => true;
  readonly #servers: Server[] = [];
  ports = { api: 0, recovery: 0, term: 0, edge: 0 };

  private constructor(nodeCa: Authority, serviceCa: Authority) {
    this.nodeCa = nodeCa;
    this.serviceCa = serviceCa;
  }

  static async start(
    ports = { api: 0, recovery: 0, term: 0, edge: 0 },
    host = '127.0.0.1',
  ): Promise<MiniPlatform> {
    const [nodeCa, serviceCa] = await Promise.all([
      makeAuthority('Node CA'),
      makeAuthority('Service CA'),
    ]);
    const platform = new MiniPlatform(nodeCa, serviceCa);
    const names = ['localhost', 'node-api.gpuaas.test', 'term.gpuaas.test', 'recovery.gpuaas.test'];
    const { certificate, key } = await issueServer(serviceCa, names, 7);
    const tls = { cert: certificate, key };
    const asking = { ...tls, ca: nodeCa.certificate, requestCert: true, rejectUnauthorized: false };
    const listen = async (server: Server, port: number): Promise<number> => {
      platform.#servers.push(server);
      await new Promise<void>((resolve) => server.listen(port, host, resolve));
      return (server.address() as AddressInfo).port;
    };
    const term = createServer(asking, (_request, response) => response.writeHead(404).end());
    platform.#gateway(term);
    platform.ports = {
      api: await listen(
        createServer(asking, (request, response) => void platform.#api(request, response)),
        ports.api,
      ),
      recovery: await listen(
        createServer(tls, (request, response) => void platform.#recovery(request, response)),
        ports.recovery,
      ),
      term: await listen(term, ports.term),
      edge: await listen(
        createServer(tls, (_request, response) => platform.#edge(response)),
        ports.edge,
      ),
    };
    return platform;
  }

  get verifiers(): string {
    return verifierEntry(this.taskKey);
  }

  addTask(
    nodeId: string,
    type: string,
    params: unknown,
    change: Partial<SignedTask> = {},
    expires = Date.now() + 60_000,
  ): string {
    const at = new Date().toISOString();
    const task = {
      task_id: randomUUID(),
      node_id: nodeId,
      task_type: type,
      params,
      issued_at: at,
      expires_at: new Date(expires).toISOString(),
      correlation_id: randomUUID(),
    };
    this.tasks.push({ ...signTask(task, this.taskKey), ...change });
    return task.task_id;
  }

  answer(
    response: ServerResponse,
    status: number,
    body: unknown,
    product: string | null = 'api',
  ): void {
    response.writeHead(
      status,
      product
        ? { 'x-gpuaas-product': product, 'content-type': 'application/json' }
        : { server: 'nginx' },
    );
    response.end(typeof body === 'string' ? body : JSON.stringify(body));
  }

  #edge(response: ServerResponse): void {
    this.answer(response, 403, {
      error: { code: 'node_identity_revoked', message: 'node identity revoked' },
    });
  }

  async #recovery(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await bodyOf(request);
    this.enrolments += 1;
    if (this.refuse('/enroll', response)) return;
    if (request.headers.authorization !== `Bearer ${this.token}`)
      return this.answer(response, 401, { error: { code: 'recovery_token_invalid' } });
    const certificate = await issueNode(
      this.nodeCa,
      String(body.node_id),
      String(body.csr),
      this.certificateLife,
    );
    this.answer(response, 201, { certificate, ca_bundle: this.serviceCa.certificate });
  }

  async #api(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const socket = request.socket as TLSSocket;
    const certificate = socket.getPeerX509Certificate();
    if (!certificate || !socket.authorized || !this.trusts(certificate)) {
      return this.answer(
        response,
        400,
        '<html><head><title>400 The SSL certificate error</title></head></html>',
        null,
      );
    }
    const path = (request.url ?? '').replace(/^\/internal\/v1\/nodes\/[^/]+/, '');
    const body = request.method === 'POST' ? await bodyOf(request) : {};
    if (this.refuse(path, response)) return;
    if (path.startsWith('/tasks/wait'))
      return await this.#wait(request, response, certificate.serialNumber);
    this.posts.push({ path, body });
    const taskId = /^\/tasks\/([^/]+)\/result$/.exec(path)?.[1];
    if (taskId) {
      const known = this.results.get(taskId) ?? [];
      this.results.set(taskId, [...known, body]);
      return this.answer(response, 200, { accepted: true, duplicate: known.length > 0 });
    }
    if (path === '/certificate/renew') {
      const nodeId = /nodes\/([^/]+)/.exec(request.url ?? '')?.[1] ?? '';
      return this.answer(response, 200, {
        certificate: await issueNode(this.nodeCa, nodeId, String(body.csr)),
        ca_bundle: '',
      });
    }
    this.answer(response, 202, {});
  }

  async #wait(request: IncomingMessage, response: ServerResponse, serial: string): Promise<void> {
    this.polls.push({ at: Date.now(), headers: request.headers, serial });
    const until = Date.now() + Number(/window=([\d.]+)/.exec(request.url ?? '')?.[1] ?? 1) * 1000;
    while (this.tasks.length === 0 && Date.now() < until)
      await new Promise((resolve) => setTimeout(resolve, 20));
    this.answer(response, 200, { task: this.tasks.shift() ?? null });
  }

  #gateway(server: Server): void {
    const sockets = new WebSocketServer({
      noServer: true,
      handleProtocols: () => 'gpuaas.node-stream.v1',
    });
    server.on('upgrade', (request, socket, head) => {
      const sid = /sessions\/([^/]+)\/stream/.exec(request.url ?? '')?.[1] ?? '';
      if (!(request.socket as TLSSocket).authorized || sid.startsWith('late')) {
        const text = JSON.stringify({ error: { code: 'node_stream_late' } });
        socket.end(
          `HTTP/1.1 410 Gone\r\ncontent-type: application/json\r\ncontent-length: ${text.length}\r\nconnection: close\r\n\r\n${text}`,
        );
        return;
      }
      sockets.handleUpgrade(request, socket, head, (stream) => {
        this.streams.set(sid, stream);
        this.onStream(sid, stream);
      });
    });
  }

  async stop(): Promise<void> {
    for (const server of this.#servers) {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    }
  }
}
