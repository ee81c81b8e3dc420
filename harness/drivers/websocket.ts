// A browser's side of the terminal: WebSocket with subprotocols and cookie, every frame kept with
// its time.
import type { IncomingHttpHeaders } from 'node:http';
import { WebSocket } from 'ws';
import { measure } from '../base/spans.ts';
import { lookupTo } from './http.ts';

export interface TerminalRequest {
  readonly url: string;
  readonly protocols: readonly string[];
  readonly cookie?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly ca?: string;
  readonly resolveAddress?: string;
  readonly timeoutMs?: number;
}

export interface Frame {
  /** Milliseconds since the request began. */
  readonly at: number;
  readonly kind: 'text' | 'binary';
  readonly text: string;
}

/** Refused before the upgrade (`status`, `body`), or not reached (`code`). */
export class UpgradeRefused extends Error {
  readonly status: number | null;
  readonly body: string;
  readonly code: string | null;
  readonly headers: IncomingHttpHeaders;
  constructor(
    message: string,
    status: number | null,
    body: string,
    code: string | null,
    headers: IncomingHttpHeaders = {},
  ) {
    super(message);
    this.name = 'UpgradeRefused';
    this.status = status;
    this.body = body;
    this.code = code;
    this.headers = headers;
  }
}

export interface Terminal {
  readonly frames: readonly Frame[];
  readonly protocol: string;
  /** How it was closed, once it is. */
  closed(): { readonly code: number; readonly reason: string } | null;
  /** Keys typed. */
  send(text: string): void;
  /** A text frame, e.g. a resize. */
  sendControl(message: unknown): void;
  /**
   * Resolves at the first moment at which what came so far satisfies the question; rejects at close
   * or deadline.
   */
  waitFor<T>(
    question: (frames: readonly Frame[]) => T | null | undefined | false,
    timeoutMs?: number,
  ): Promise<T>;
  close(): Promise<void>;
}

/** What the shell wrote so far. */
export const outputOf = (frames: readonly Frame[]): string =>
  frames
    .filter((frame) => frame.kind === 'binary')
    .map((frame) => frame.text)
    .join('');

function connect(
  wanted: TerminalRequest,
  timeoutMs: number,
): Promise<{ socket: WebSocket; early: [Buffer, boolean][] }> {
  const socket = new WebSocket(wanted.url, [...wanted.protocols], {
    headers: { ...wanted.headers, ...(wanted.cookie !== undefined && { cookie: wanted.cookie }) },
    perMessageDeflate: false,
    ...(wanted.ca !== undefined && { ca: wanted.ca }),
    ...(wanted.resolveAddress !== undefined && { lookup: lookupTo(wanted.resolveAddress) }),
  });
  const early: [Buffer, boolean][] = [];
  // Frames may come in the same packet as the answer to the upgrade, before anybody listens.
  socket.on('message', (data, binary) => early.push([data as Buffer, binary]));
  return new Promise((resolve, reject) => {
    const refuse = (refused: UpgradeRefused) => {
      clearTimeout(deadline);
      reject(refused);
      socket.terminate();
    };
    // The library's own timeout fires at twice its value when the TLS handshake hangs.
    const deadline = setTimeout(
      () =>
        refuse(
          new UpgradeRefused(
            `no answer to the upgrade within ${timeoutMs} ms`,
            null,
            '',
            'ETIMEDOUT',
          ),
        ),
      timeoutMs,
    );
    socket.once('open', () => {
      clearTimeout(deadline);
      resolve({ socket, early });
    });
    // Stays: an error without a listener would end the process. The close that follows it tells
    // more.
    socket.on('error', (error: NodeJS.ErrnoException) => {
      clearTimeout(deadline);
      reject(new UpgradeRefused(error.message, null, '', error.code ?? null));
    });
    socket.once('unexpected-response', (_request, response) => {
      let body = '';
      response.on('data', (chunk) => (body += String(chunk)));
      const answered = () =>
        refuse(
          new UpgradeRefused(
            `upgrade refused with ${response.statusCode}`,
            response.statusCode ?? null,
            body,
            null,
            response.headers,
          ),
        );
      response.once('end', answered);
      response.once('error', answered);
    });
  });
}

export const openTerminal = (wanted: TerminalRequest): Promise<Terminal> =>
  measure('driver', 'websocket open', () => open(wanted));

/** What came over the socket so far, how it ended, and who waits for more. */
interface Inbox {
  readonly frames: Frame[];
  readonly waiting: Set<() => void>;
  end: { readonly code: number; readonly reason: string } | null;
}

function collectFrames(
  socket: WebSocket,
  early: readonly [Buffer, boolean][],
  startedAt: number,
): Inbox {
  const inbox: Inbox = { frames: [], waiting: new Set(), end: null };
  const wake = () => {
    for (const look of [...inbox.waiting]) look();
  };
  const take = (data: Buffer, binary: boolean) => {
    inbox.frames.push({
      at: performance.now() - startedAt,
      kind: binary ? 'binary' : 'text',
      text: data.toString('utf8'),
    });
    wake();
  };
  socket.removeAllListeners('message');
  for (const [data, binary] of early) take(data, binary);
  socket.on('message', (data, binary) => take(data as Buffer, binary));
  socket.on('close', (code, reason) => {
    inbox.end = { code, reason: reason.toString('utf8') };
    wake();
  });
  return inbox;
}

function waitForAnswer<T>(
  inbox: Inbox,
  question: (frames: readonly Frame[]) => T | null | undefined | false,
  waitMs: number,
): Promise<T> {
  const { frames, waiting } = inbox;
  return new Promise((resolve, reject) => {
    const look = () => {
      const answer = question(frames);
      if (answer) finish(() => resolve(answer));
      else if (inbox.end) {
        const { code, reason } = inbox.end;
        const last = frames.at(-1)?.text ?? 'no frame';
        finish(() => reject(new Error(`terminal closed (${code} ${reason}): ${last}`)));
      }
    };
    const finish = (settle: () => void) => {
      clearTimeout(deadline);
      waiting.delete(look);
      settle();
    };
    const giveUp = () => {
      const last = frames.at(-1)?.text ?? 'none';
      finish(() => reject(new Error(`terminal: nothing within ${waitMs} ms; last frame: ${last}`)));
    };
    const deadline = setTimeout(giveUp, waitMs);
    waiting.add(look);
    look();
  });
}

async function open(wanted: TerminalRequest): Promise<Terminal> {
  const startedAt = performance.now();
  const timeoutMs = wanted.timeoutMs ?? 5000;
  const { socket, early } = await connect(wanted, timeoutMs);
  const inbox = collectFrames(socket, early, startedAt);
  return {
    frames: inbox.frames,
    protocol: socket.protocol,
    closed: () => inbox.end,
    send: (text) => socket.send(Buffer.from(text), { binary: true }),
    sendControl: (message) => socket.send(JSON.stringify(message), { binary: false }),
    waitFor: (question, waitMs = timeoutMs) =>
      measure('driver', 'websocket answer', () => waitForAnswer(inbox, question, waitMs)),
    close: () =>
      new Promise((resolve) => {
        if (inbox.end) return resolve();
        const kill = setTimeout(() => socket.terminate(), 1000);
        socket.once('close', () => {
          clearTimeout(kill);
          resolve();
        });
        socket.close(1000);
      }),
  };
}
