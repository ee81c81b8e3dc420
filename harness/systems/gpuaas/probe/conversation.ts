// The browser's side of one terminal session: upgrade, frames, a computed question to the shell.
// Four hops read from it.
import { randomInt } from 'node:crypto';
import { at, str } from './http.ts';
import { sleep } from './lazy.ts';

export interface Refusal {
  readonly status: number | null;
  readonly code: string | null;
  readonly errorCode: string | null;
  readonly product: string | null;
  readonly location: string | null;
  readonly message: string;
}

export interface ErrorFrame {
  readonly code: string;
  readonly reason: string | null;
  readonly message: string | null;
  readonly correlationId: string | null;
}

/** How the session ended, as seen from the browser. */
export type End =
  | { readonly kind: 'answered'; readonly readyMs: number; readonly answeredMs: number }
  | { readonly kind: 'error'; readonly frame: ErrorFrame; readonly atMs: number }
  | {
      readonly kind: 'closed';
      readonly code: number;
      readonly reason: string;
      readonly ready: boolean;
    }
  | { readonly kind: 'silence'; readonly ready: boolean };

export interface Conversation {
  readonly refused: Refusal | null;
  readonly protocol: string;
  readonly upgradeMs: number;
  /** The first frame of any kind, false when none came in time. */
  firstFrame(): Promise<boolean>;
  end(): Promise<End>;
  /** States that the gateway told so far. */
  states(): readonly string[];
  /** Resolves at the next frame, or after the time. */
  news(forMs: number): Promise<void>;
}

interface Wanted {
  readonly url: string;
  readonly token: string;
  readonly cookie?: string | undefined;
  readonly correlationId: string;
  readonly ca?: string | undefined;
  readonly resolveAddress?: string | undefined;
  readonly upgradeMs: number;
  readonly sessionMs: number;
  readonly answerMs: number;
  readonly defer: (close: () => Promise<void>) => void;
}

export const subprotocol = 'gpuaas.terminal.v1';

export async function converse(wanted: Wanted): Promise<Conversation> {
  const { openTerminal, outputOf, UpgradeRefused } = await import('../../../drivers/websocket.ts');
  const began = performance.now();
  let terminal: Awaited<ReturnType<typeof openTerminal>>;
  try {
    terminal = await openTerminal({
      url: wanted.url,
      protocols: [subprotocol, `token.${wanted.token}`],
      headers: { 'x-correlation-id': wanted.correlationId },
      timeoutMs: wanted.upgradeMs,
      ...(wanted.cookie !== undefined && { cookie: wanted.cookie }),
      ...(wanted.ca !== undefined && { ca: wanted.ca }),
      ...(wanted.resolveAddress !== undefined && { resolveAddress: wanted.resolveAddress }),
    });
  } catch (error) {
    if (!(error instanceof UpgradeRefused)) throw error;
    return refusedConversation(error, performance.now() - began);
  }
  wanted.defer(() => terminal.close());
  const messages = (): unknown[] =>
    terminal.frames.filter((frame) => frame.kind === 'text').map((frame) => parsed(frame.text));
  const find = (type: string) => messages().find((message) => at(message, 'type') === type);
  const settle = async (question: () => boolean, forMs: number): Promise<boolean> =>
    terminal.waitFor(() => question(), forMs).catch(() => false);
  const since = () => performance.now() - began;

  const talk = async (): Promise<End> => {
    const over = () => find('error') !== undefined || find('exit') !== undefined;
    await settle(() => find('ready') !== undefined || over(), wanted.sessionMs);
    if (!over() && find('ready') !== undefined) {
      const readyMs = since();
      const [a, b] = [randomInt(10_000, 99_999), randomInt(10_000, 99_999)];
      terminal.send(`echo $((${a}*${b}))\n`);
      const answered = () => outputOf(terminal.frames).includes(String(a * b));
      await settle(() => answered() || over(), wanted.answerMs);
      if (answered()) return { kind: 'answered', readyMs, answeredMs: since() };
    }
    const frame = find('error');
    if (frame !== undefined) return { kind: 'error', frame: errorFrame(frame), atMs: since() };
    const closed = terminal.closed() ?? (find('exit') ? { code: 1000, reason: 'exit' } : null);
    const ready = find('ready') !== undefined;
    return closed ? { kind: 'closed', ...closed, ready } : { kind: 'silence', ready };
  };
  const ending = talk();
  ending.catch(() => {});
  return {
    refused: null,
    protocol: terminal.protocol,
    upgradeMs: since(),
    firstFrame: () => settle(() => terminal.frames.length > 0, wanted.sessionMs),
    end: () => ending,
    news: async (forMs) => {
      const heard = terminal.frames.length;
      if (terminal.closed()) await sleep(forMs);
      else await settle(() => terminal.frames.length > heard, forMs);
    },
    states: () =>
      messages().flatMap(
        (message) => str(at(message, 'state')) ?? (at(message, 'type') === 'ready' ? 'ready' : []),
      ),
  };
}

function refusedConversation(
  error: {
    status: number | null;
    code: string | null;
    body: string;
    headers: Record<string, unknown>;
    message: string;
  },
  upgradeMs: number,
): Conversation {
  const refused: Refusal = {
    status: error.status,
    code: error.code,
    errorCode: str(at(parsed(error.body), 'error', 'code')),
    product: str(error.headers['x-gpuaas-product']),
    location: str(error.headers.location),
    message: error.message,
  };
  return {
    refused,
    protocol: '',
    upgradeMs,
    firstFrame: async () => false,
    end: async () => ({ kind: 'closed', code: 1006, reason: '', ready: false }),
    states: () => [],
    news: sleep,
  };
}

const errorFrame = (message: unknown): ErrorFrame => ({
  code: str(at(message, 'code')) ?? 'unnamed',
  reason: str(at(message, 'reason')),
  message: str(at(message, 'message')),
  correlationId: str(at(message, 'correlation_id')),
});

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
