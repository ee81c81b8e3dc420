import { measure } from '../../base/spans.ts';
import {
  type Frame,
  openTerminal,
  outputOf,
  type Terminal,
  UpgradeRefused,
} from '../../drivers/websocket.ts';
import type { HookContext } from '../hooks.ts';
import { endpointOf } from './deployment.ts';
import { ask, cookieOf, nodeOf, transportOf } from './platform.ts';

/**
 * Opens a terminal exactly as a user's browser does, and says how far it came. `told`: the platform
 * said in a frame or in a typed refusal that there is no terminal. `refused`: turned away at once,
 * without words of the platform. `silent`: neither.
 */
export interface TerminalTry {
  readonly end: 'ready' | 'told' | 'refused' | 'silent';
  readonly answered: boolean;
  /** The platform's own words, never ours. */
  readonly message: string | null;
  readonly correlationId: string | null;
  /** What we saw, for people who read the run. */
  readonly detail: string;
  readonly afterMs: number;
}

interface Minted {
  readonly token: string;
  readonly correlation_id: string;
}

interface Told {
  readonly type?: string;
  readonly code?: string;
  readonly message?: string;
  readonly correlation_id?: string;
}

type Ended = Omit<TerminalTry, 'afterMs' | 'answered'> & { readonly answered?: boolean };

export async function tryTerminal(context: HookContext, deadlineMs: number): Promise<TerminalTry> {
  const started = performance.now();
  const ended = await attempt(context, deadlineMs);
  return { answered: false, ...ended, afterMs: performance.now() - started };
}

async function attempt(context: HookContext, deadlineMs: number): Promise<Ended> {
  const mint = await ask(
    context,
    'POST',
    `/v1/allocations/${nodeOf(context).node.allocation}/terminal-token`,
    { as: 'user' },
  );
  if (mint.status !== 201) return refusal(mint.status, mint.body, `no token: ${mint.status}`);
  const minted = JSON.parse(mint.body) as Minted;
  let terminal: Terminal;
  try {
    terminal = await measure('driver', 'terminal upgrade', () =>
      connect(context, minted, deadlineMs),
    );
  } catch (error) {
    if (!(error instanceof UpgradeRefused)) throw error;
    if (error.code === 'ETIMEDOUT') return silence(error.message);
    return refusal(error.status, error.body, error.message);
  }
  try {
    return await use(terminal, minted, deadlineMs);
  } finally {
    await terminal.close();
  }
}

async function use(terminal: Terminal, minted: Minted, deadlineMs: number): Promise<Ended> {
  let frame: Told;
  try {
    frame = await measure('driver', 'terminal frames', () =>
      terminal.waitFor(readyOrError, deadlineMs),
    );
  } catch (error) {
    // A connection that is closed without a frame leaves a person as wise as one that hangs.
    return silence((error as Error).message);
  }
  if (frame.type === 'error') return told(frame);
  const ready = { end: 'ready', message: null, correlationId: minted.correlation_id } as const;
  terminal.send('echo $((6*7))_shell\n');
  const echo = terminal.waitFor((frames) => outputOf(frames).includes('42_shell'), deadlineMs);
  return measure('driver', 'terminal echo', () => echo).then(
    () => ({ ...ready, answered: true, detail: 'ready, and the shell answered' }),
    (error: Error) => ({
      ...ready,
      detail: `ready, and the shell did not answer: ${error.message}`,
    }),
  );
}

function connect({ profile }: HookContext, minted: Minted, deadlineMs: number): Promise<Terminal> {
  const base = endpointOf(profile, 'terminal').replace(/^http/, 'ws');
  const asksForCookie = profile.credentials['edge-cookie'] !== undefined;
  return openTerminal({
    url: `${base}/ws/terminal`,
    protocols: ['gpuaas.terminal.v1', `token.${minted.token}`],
    ...(asksForCookie && { cookie: cookieOf(profile) }),
    ...transportOf(profile),
    timeoutMs: deadlineMs,
  });
}

function readyOrError(frames: readonly Frame[]): Told | null {
  for (const frame of frames) {
    if (frame.kind !== 'text') continue;
    const said = parse(frame.text) as Told | null;
    if (said?.type === 'ready' || said?.type === 'error') return said;
  }
  return null;
}

const silence = (detail: string): Ended => ({
  end: 'silent',
  message: null,
  correlationId: null,
  detail,
});

/** An error without a code, words or an id is none that a person could use. */
export function told({ code, message, correlation_id: id }: Told): Ended {
  const whole = [code, message, id].every((part) => typeof part === 'string' && part.trim() !== '');
  const detail = `${code ?? 'no code'}: ${message ?? 'no message'} [${id ?? 'no correlation id'}]`;
  return whole
    ? { end: 'told', message: `${code}: ${message}`, correlationId: id ?? null, detail }
    : silence(`an empty error: ${detail}`);
}

/** Only the platform's typed body is its word; a page of some proxy is not. */
export function refusal(status: number | null, body: string, detail: string): Ended {
  const typed = (parse(body) as { error?: Told } | null)?.error;
  if (typed?.code !== undefined) return told(typed);
  return {
    end: 'refused',
    message: null,
    correlationId: null,
    detail: `${detail}${status === null ? '' : ', without words of the platform'}`,
  };
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
