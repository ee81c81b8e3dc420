// A person at the console page, in a real Chromium that is driven over its debugging protocol.
// Every use has a context of its own: no cookie, token or socket is left for the next one.
import {
  type Browser,
  type BrowserContext,
  type CDPSession,
  chromium,
  type Page,
} from 'playwright-core';
import { measure } from '../base/spans.ts';
import { type Patience, until } from '../base/until.ts';

export interface ConsoleRequest {
  readonly cdpUrl: string;
  readonly consoleBase: string;
  readonly allocation: string;
  /** Without one nobody signs in: the page is opened, and left as it comes. */
  readonly userToken?: string;
  /** `name=value` of the edge's login. */
  readonly edgeCookie: string;
  /**
   * The answer to the page's request for a terminal, in place of the API's: how a page meets a
   * token that was used.
   */
  readonly minted?: { readonly token: string; readonly correlationId: string };
  readonly timeoutMs?: number;
  /** Leaves the page at once, whatever it was waiting for there. */
  readonly signal?: AbortSignal;
}

/** What the page shows to the person. */
export interface ConsoleState {
  readonly state: string;
  readonly text: string;
  readonly message: string;
  readonly next: string;
  readonly code: string;
  readonly correlationId: string;
}

/** What the browser itself saw of the terminal's WebSocket, whatever the page made of it. */
export interface SeenSocket {
  readonly url: string;
  status: number | null;
  readonly texts: string[];
  closed: boolean;
}

export interface ConsolePage {
  readonly sockets: readonly SeenSocket[];
  state(): Promise<ConsoleState>;
  /** The state in which the page first satisfied the question; null at the deadline. */
  waitFor(
    question: (state: ConsoleState) => boolean,
    timeoutMs: number,
  ): Promise<ConsoleState | null>;
  type(text: string): Promise<void>;
  /** As from a clipboard: all at once. */
  paste(text: string): Promise<void>;
  /** From the terminal's own buffer; the page draws it on a canvas. */
  terminalText(): Promise<string>;
  waitForText(pattern: RegExp, timeoutMs: number): Promise<string>;
  resize(width: number, height: number): Promise<void>;
  screenshot(): Promise<Uint8Array>;
  close(): Promise<void>;
}

// As text: these run in the page, whose types this side does not have.
const readState = `(() => {
  const text = (id) => document.getElementById(id)?.textContent?.trim() ?? '';
  const shown = document.getElementById('panel')?.hidden === false;
  return {
    state: document.getElementById('state')?.dataset.state ?? 'none',
    text: text('state'),
    message: shown ? text('message') : '',
    next: shown ? text('next') : '',
    code: shown ? text('code') : '',
    correlationId: text('correlation'),
  };
})()`;
const readTerminal = `(() => {
  const buffer = window.term?.buffer.active;
  if (!buffer) return '';
  let text = '';
  for (let y = 0; y < buffer.length; y++) {
    const line = buffer.getLine(y);
    if (y > 0 && !line?.isWrapped) text += '\\n';
    text += line?.translateToString(true) ?? '';
  }
  return text.trimEnd();
})()`;

/** Playwright's own errors carry pages of log; the first line says it. */
const firstLine = (error: unknown): Error =>
  new Error(String(error instanceof Error ? error.message : error).split('\n', 1)[0]);

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

/** The edge's login holds for all public hosts, so it belongs to their common domain. */
async function logIn(
  context: BrowserContext,
  { consoleBase, edgeCookie }: ConsoleRequest,
): Promise<void> {
  const { hostname } = new URL(consoleBase);
  const at = edgeCookie.indexOf('=');
  const domain = `.${hostname.split('.').slice(1).join('.')}`;
  await context.addCookies([
    {
      name: edgeCookie.slice(0, at),
      value: edgeCookie.slice(at + 1),
      domain,
      path: '/',
      secure: true,
    },
  ]);
}

async function answerMint(page: Page, { consoleBase, minted }: ConsoleRequest): Promise<void> {
  if (!minted) return;
  await page.route('**/v1/allocations/*/terminal-token', (route) =>
    route.fulfill({
      status: 201,
      headers: { 'access-control-allow-origin': new URL(consoleBase).origin },
      json: { token: minted.token, correlation_id: minted.correlationId },
    }),
  );
}

async function signIn(page: Page, wanted: ConsoleRequest): Promise<void> {
  await page.goto(`${wanted.consoleBase}/?allocation=${encodeURIComponent(wanted.allocation)}`);
  if (wanted.userToken === undefined) return;
  await page.fill('#token', wanted.userToken);
  await page.click('#sign-in button[type=submit]');
}

function handle(
  browser: Browser,
  context: BrowserContext,
  page: Page,
  sockets: SeenSocket[],
): ConsolePage {
  const state = async () => (await page.evaluate(readState)) as ConsoleState;
  const terminalText = async () => (await page.evaluate(readTerminal)) as string;
  const patience = (withinMs: number): Patience => ({
    everyMs: 50,
    withinMs,
    pause: (ms) => page.waitForTimeout(ms),
  });
  return {
    sockets,
    state,
    terminalText,
    waitFor: async (question, timeoutMs) => {
      const { answer, met } = await until(state, question, patience(timeoutMs));
      return met ? answer : null;
    },
    waitForText: async (pattern, timeoutMs) => {
      const { answer, met } = await until(
        terminalText,
        (text) => pattern.test(text),
        patience(timeoutMs),
      );
      if (!met)
        throw new Error(
          `the terminal did not show ${pattern} within ${timeoutMs} ms; it shows: ${answer.slice(-500)}`,
        );
      return answer;
    },
    type: async (text) => {
      await page.focus('.xterm-helper-textarea');
      await page.keyboard.type(text);
    },
    paste: async (text) => {
      await page.evaluate(`(() => {
        const clipboardData = new DataTransfer();
        clipboardData.setData('text/plain', ${JSON.stringify(text)});
        const event = new ClipboardEvent('paste', { clipboardData, bubbles: true, cancelable: true });
        document.querySelector('.xterm-helper-textarea').dispatchEvent(event);
      })()`);
    },
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

/**
 * Opens the console, signs in, and asks for a terminal; returns as soon as the page has been asked.
 */
export function openConsole(wanted: ConsoleRequest): Promise<ConsolePage> {
  return measure('driver', 'console page', async () => {
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
      await logIn(context, wanted);
      const page = await context.newPage();
      const sockets = await watchSockets(await context.newCDPSession(page));
      await answerMint(page, wanted);
      await signIn(page, wanted);
      return handle(browser, context, page, sockets);
    } catch (error) {
      await leave(browser, context);
      throw firstLine(error);
    }
  });
}
