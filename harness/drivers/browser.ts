// A page in a real Chromium that is driven over its debugging protocol. Every use has a context of
// its own: no cookie, token or socket is left for the next one.
import {
  type Browser,
  type BrowserContext,
  type CDPSession,
  chromium,
  type Page,
} from 'playwright-core';
import { messageOf } from '../base/message-of.ts';
import { measure } from '../base/spans.ts';

export interface PageRequest {
  readonly cdpUrl: string;
  readonly cookies: readonly Cookie[];
  /** Answers in place of the platform's, for requests whose URL fits the glob. */
  readonly answers?: readonly Answer[];
  readonly timeoutMs?: number;
  /** Leaves the page at once, whatever it was waiting for there. */
  readonly signal?: AbortSignal;
}

export interface Cookie {
  /** `name=value`. */
  readonly pair: string;
  readonly domain: string;
}

export interface Answer {
  readonly url: string;
  readonly status: number;
  readonly headers: Record<string, string>;
  readonly json: unknown;
}

/** What the browser itself saw of one WebSocket, whatever the page made of it. */
export interface SeenSocket {
  readonly url: string;
  status: number | null;
  readonly texts: string[];
  closed: boolean;
}

/** Selectors are those of CSS; a script is text, as it runs in the page. */
export interface BrowserPage {
  readonly sockets: readonly SeenSocket[];
  goto(url: string): Promise<void>;
  fill(selector: string, text: string): Promise<void>;
  click(selector: string): Promise<void>;
  type(selector: string, text: string): Promise<void>;
  evaluate(script: string): Promise<unknown>;
  pause(ms: number): Promise<void>;
  resize(width: number, height: number): Promise<void>;
  screenshot(): Promise<Uint8Array>;
  close(): Promise<void>;
}

/** Playwright's own errors carry pages of log; the first line says it. */
const firstLine = (error: unknown): Error => new Error(messageOf(error).split('\n', 1)[0]);

async function watchSockets(session: CDPSession): Promise<SeenSocket[]> {
  const seen = new Map<string, SeenSocket>();
  const sockets: SeenSocket[] = [];
  session.on('Network.webSocketCreated', ({ requestId, url }) => {
    const socket: SeenSocket = { url, status: null, texts: [], closed: false };
    seen.set(requestId, socket);
    sockets.push(socket);
  });
  session.on('Network.webSocketHandshakeResponseReceived', ({ requestId, response }) => {
    const socket = seen.get(requestId);
    if (socket) socket.status = response.status;
  });
  session.on('Network.webSocketFrameReceived', ({ requestId, response }) => {
    if (response.opcode === 1) seen.get(requestId)?.texts.push(response.payloadData);
  });
  session.on('Network.webSocketFrameError', ({ requestId, errorMessage }) => {
    // A refused handshake has no response event of its own; Chromium tells its status here.
    const socket = seen.get(requestId);
    const status = /response code: (\d+)/.exec(errorMessage)?.[1];
    if (socket && status) socket.status = Number(status);
  });
  session.on('Network.webSocketClosed', ({ requestId }) => {
    const socket = seen.get(requestId);
    if (socket) socket.closed = true;
  });
  await session.send('Network.enable');
  return sockets;
}

function handle(
  browser: Browser,
  context: BrowserContext,
  page: Page,
  sockets: SeenSocket[],
): BrowserPage {
  return {
    sockets,
    goto: async (url) => void (await page.goto(url)),
    fill: (selector, text) => page.fill(selector, text),
    click: (selector) => page.click(selector),
    type: async (selector, text) => {
      await page.focus(selector);
      await page.keyboard.type(text);
    },
    evaluate: (script) => page.evaluate(script),
    pause: (ms) => page.waitForTimeout(ms),
    resize: (width, height) => page.setViewportSize({ width, height }),
    screenshot: () => page.screenshot(),
    close: () => leave(browser, context),
  };
}

/** Leaving a browser that is driven from outside ends the connection to it, not the browser. */
async function leave(browser: Browser, context: BrowserContext | null): Promise<void> {
  await context?.close().catch(() => {});
  await browser.close().catch(() => {});
}

/** `use` is what is done before anybody gets the page; when it fails, the page is left again. */
export function openPage<T>(
  wanted: PageRequest,
  use: (page: BrowserPage) => Promise<T>,
): Promise<T> {
  return measure('driver', 'browser page', async () => {
    const timeout = wanted.timeoutMs ?? 10_000;
    const browser = await chromium
      .connectOverCDP(wanted.cdpUrl, { timeout })
      .catch((error) => Promise.reject(firstLine(error)));
    let context: BrowserContext | null = null;
    if (wanted.signal?.aborted === true) await leave(browser, context);
    wanted.signal?.addEventListener('abort', () => void leave(browser, context), { once: true });
    try {
      context = await browser.newContext();
      context.setDefaultTimeout(timeout);
      await context.addCookies(wanted.cookies.map(cookieOf));
      const page = await context.newPage();
      const sockets = await watchSockets(await context.newCDPSession(page));
      for (const { url, ...answer } of wanted.answers ?? [])
        await page.route(url, (route) => route.fulfill(answer));
      return await use(handle(browser, context, page, sockets));
    } catch (error) {
      await leave(browser, context);
      throw firstLine(error);
    }
  });
}

function cookieOf({ pair, domain }: Cookie) {
  const at = pair.indexOf('=');
  const [name, value] = [pair.slice(0, at), pair.slice(at + 1)];
  return { name, value, domain, path: '/', secure: true };
}
