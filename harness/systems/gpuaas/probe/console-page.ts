// A person at the console page.
import { type Patience, until } from '../../../base/until.ts';
import {
  type Answer,
  type BrowserPage,
  openPage,
  type SeenSocket,
} from '../../../drivers/browser.ts';

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

/** The edge's login holds for all public hosts, so it belongs to their common domain. */
const domainOfLogin = (consoleBase: string): string =>
  `.${new URL(consoleBase).hostname.split('.').slice(1).join('.')}`;

function answersTo({ consoleBase, minted }: ConsoleRequest): Answer[] {
  if (!minted) return [];
  const answer = {
    url: '**/v1/allocations/*/terminal-token',
    status: 201,
    headers: { 'access-control-allow-origin': new URL(consoleBase).origin },
    json: { token: minted.token, correlation_id: minted.correlationId },
  };
  return [answer];
}

async function signIn(page: BrowserPage, wanted: ConsoleRequest): Promise<void> {
  await page.goto(`${wanted.consoleBase}/?allocation=${encodeURIComponent(wanted.allocation)}`);
  if (wanted.userToken === undefined) return;
  await page.fill('#token', wanted.userToken);
  await page.click('#sign-in button[type=submit]');
}

/** Where xterm.js takes what is typed. */
const typedInto = '.xterm-helper-textarea';

function handle(page: BrowserPage): ConsolePage {
  const state = async () => (await page.evaluate(readState)) as ConsoleState;
  const terminalText = async () => (await page.evaluate(readTerminal)) as string;
  const patience = (withinMs: number): Patience => ({
    everyMs: 50,
    withinMs,
    pause: (ms) => page.pause(ms),
  });
  return {
    sockets: page.sockets,
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
    type: (text) => page.type(typedInto, text),
    paste: async (text) => {
      await page.evaluate(`(() => {
        const clipboardData = new DataTransfer();
        clipboardData.setData('text/plain', ${JSON.stringify(text)});
        const event = new ClipboardEvent('paste', { clipboardData, bubbles: true, cancelable: true });
        document.querySelector('${typedInto}').dispatchEvent(event);
      })()`);
    },
    resize: page.resize,
    screenshot: page.screenshot,
    close: page.close,
  };
}

/**
 * Opens the console, signs in, and asks for a terminal; returns as soon as the page has been asked.
 */
export function openConsole(wanted: ConsoleRequest): Promise<ConsolePage> {
  const { cdpUrl, consoleBase, edgeCookie, timeoutMs, signal } = wanted;
  const request = {
    ...{ cdpUrl, answers: answersTo(wanted) },
    cookies: [{ pair: edgeCookie, domain: domainOfLogin(consoleBase) }],
    ...(timeoutMs === undefined ? {} : { timeoutMs }),
    ...(signal === undefined ? {} : { signal }),
  };
  return openPage(request, async (page) => {
    await signIn(page, wanted);
    return handle(page);
  });
}
