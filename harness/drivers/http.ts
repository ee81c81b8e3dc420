// One HTTP request with the time of every phase, on a connection of its own unless an agent is
// given. A failure says in which phase, so that nobody has to guess it from a message. The deadline
// is absolute: Node's own `timeout` is not.
import type { Agent, IncomingHttpHeaders, IncomingMessage, RequestOptions } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { isIP, type Socket } from 'node:net';
import { measure } from '../base/spans.ts';
import { plainRequest } from './plain-http.ts';

export type HttpPhase = 'dns' | 'tcp' | 'tls' | 'http';

export interface HttpRequest {
  readonly url: string;
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  /** PEM; takes the place of the machine's own trust store. */
  readonly ca?: string;
  /** Connect here, whatever the name in the URL resolves to. */
  readonly resolveAddress?: string;
  readonly cert?: { readonly cert: string; readonly key: string };
  /**
   * Keeps connections between requests, e.g. for polling; without one each request makes its own.
   */
  readonly agent?: Agent;
  readonly timeoutMs?: number;
  readonly signal?: AbortSignal;
}

/** Milliseconds from the start; null when the phase was not needed. */
export interface HttpTimings {
  dns: number | null;
  tcp: number | null;
  tls: number | null;
  firstByte: number | null;
}

export interface HttpResponse {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
  readonly timings: HttpTimings;
}

export class HttpError extends Error {
  readonly code: string;
  readonly phase: HttpPhase;
  readonly timings: HttpTimings;
  constructor(message: string, code: string, phase: HttpPhase, timings: HttpTimings) {
    super(message);
    this.name = 'HttpError';
    this.code = code;
    this.phase = phase;
    this.timings = timings;
  }
}

/** A `lookup` for sockets that answers with one address. */
export const lookupTo =
  (address: string): NonNullable<RequestOptions['lookup']> =>
  (_name, options, callback) =>
    options.all
      ? callback(null, [{ address, family: isIP(address) }])
      : callback(null, address, isIP(address));

function watch(
  socket: Socket,
  startedAt: number,
  secure: boolean,
  timings: HttpTimings,
  enter: (phase: HttpPhase) => void,
): void {
  const since = () => performance.now() - startedAt;
  socket.once('lookup', () => {
    timings.dns = since();
    enter('tcp');
  });
  socket.once('connect', () => {
    timings.tcp = since();
    enter(secure ? 'tls' : 'http');
  });
  socket.once('secureConnect', () => {
    timings.tls = since();
    enter('http');
  });
}

async function readBody(response: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of response) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString('utf8');
}

export const request = (wanted: HttpRequest): Promise<HttpResponse> =>
  measure('driver', `http ${wanted.method ?? 'GET'} ${wanted.url}`, () => send(wanted));

function send(wanted: HttpRequest): Promise<HttpResponse> {
  const url = new URL(wanted.url);
  const secure = url.protocol === 'https:';
  const timeoutMs = wanted.timeoutMs ?? 5000;
  const timings: HttpTimings = { dns: null, tcp: null, tls: null, firstByte: null };
  const startedAt = performance.now();
  let phase: HttpPhase = isIP(url.hostname) || wanted.resolveAddress ? 'tcp' : 'dns';
  return new Promise((resolve, reject) => {
    const outgoing = (secure ? httpsRequest : plainRequest)(url, {
      method: wanted.method ?? 'GET',
      headers: {
        ...wanted.headers,
        ...(wanted.body !== undefined && { 'content-length': Buffer.byteLength(wanted.body) }),
      },
      agent: wanted.agent ?? false,
      ...(wanted.ca !== undefined && { ca: wanted.ca }),
      ...wanted.cert,
      ...(wanted.resolveAddress !== undefined && { lookup: lookupTo(wanted.resolveAddress) }),
      ...(wanted.signal && { signal: wanted.signal }),
    });
    const fail = (error: NodeJS.ErrnoException) => {
      clearTimeout(deadline);
      reject(
        error instanceof HttpError
          ? error
          : new HttpError(error.message, error.code ?? 'UNKNOWN', phase, timings),
      );
    };
    const deadline = setTimeout(() => {
      outgoing.destroy(
        new HttpError(`no answer within ${timeoutMs} ms (${phase})`, 'ETIMEDOUT', phase, timings),
      );
    }, timeoutMs);
    outgoing.once('socket', (socket) => {
      if (outgoing.reusedSocket) phase = 'http';
      else watch(socket, startedAt, secure, timings, (next) => (phase = next));
    });
    outgoing.once('error', fail);
    outgoing.once('response', (response) => {
      timings.firstByte = performance.now() - startedAt;
      readBody(response).then((body) => {
        clearTimeout(deadline);
        resolve({ status: response.statusCode ?? 0, headers: response.headers, body, timings });
      }, fail);
    });
    outgoing.end(wanted.body);
  });
}
