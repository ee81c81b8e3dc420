// The public side over HTTP: an answer is an answer whatever its status; only "nobody answered" is
// an error.
import { Agent } from 'node:https';
import { HttpError, type HttpPhase, request } from '../../../drivers/http.ts';
import type { Evidence, Step } from '../../../preflight/types.ts';

export interface Answered {
  readonly kind: 'answer';
  readonly status: number;
  /** Which part of the platform made the answer, as it says itself. */
  readonly product: string | null;
  readonly json: unknown;
  readonly body: string;
  readonly location: string | null;
  readonly steps: readonly Step[];
  readonly ms: number;
}

export interface Unanswered {
  readonly kind: 'none';
  readonly phase: HttpPhase;
  readonly code: string;
  readonly message: string;
  readonly steps: readonly Step[];
  readonly ms: number;
}

export type Answer = Answered | Unanswered;
export type Client = (
  path: string,
  options?: {
    method?: string;
    token?: string;
    body?: unknown;
    cookie?: string;
    timeoutMs?: number;
  },
) => Promise<Answer>;

export interface ClientOptions {
  readonly base: string;
  readonly correlationId: string;
  readonly ca?: string | undefined;
  readonly resolveAddress?: string | undefined;
  readonly signal: AbortSignal;
  readonly timeoutMs: number;
  readonly defer: (close: () => void) => void;
}

export function openClient(options: ClientOptions): Client {
  const agent = new Agent({ keepAlive: true, maxSockets: 6 });
  options.defer(() => agent.destroy());
  return async (path, given = {}) => {
    const began = performance.now();
    const body = given.body === undefined ? undefined : JSON.stringify(given.body);
    try {
      const answer = await request({
        url: options.base + path,
        method: given.method ?? 'GET',
        headers: {
          'x-correlation-id': options.correlationId,
          accept: 'application/json',
          ...(given.token !== undefined && { authorization: `Bearer ${given.token}` }),
          ...(given.cookie !== undefined && { cookie: given.cookie }),
          ...(body !== undefined && { 'content-type': 'application/json' }),
        },
        ...(body !== undefined && { body }),
        ...(options.ca !== undefined && { ca: options.ca }),
        ...(options.resolveAddress !== undefined && { resolveAddress: options.resolveAddress }),
        ...(options.base.startsWith('https:') && { agent }),
        timeoutMs: given.timeoutMs ?? options.timeoutMs,
        signal: options.signal,
      });
      const product = answer.headers['x-gpuaas-product'];
      return {
        kind: 'answer',
        status: answer.status,
        product: typeof product === 'string' ? product : null,
        json: parsed(answer.body),
        body: answer.body,
        location: answer.headers.location ?? null,
        steps: stepsOf(
          { ...answer.timings, http: answer.timings.firstByte } as Record<string, number | null>,
          String(answer.status),
        ),
        ms: performance.now() - began,
      };
    } catch (error) {
      const known =
        error instanceof HttpError
          ? error
          : new HttpError(String(error), 'UNKNOWN', 'http', {
              dns: null,
              tcp: null,
              tls: null,
              firstByte: null,
            });
      const { phase, code, message, timings } = known;
      return {
        kind: 'none',
        phase,
        code,
        message,
        ms: performance.now() - began,
        steps: [
          ...stepsOf({ ...timings }, null),
          {
            phase,
            start_ms: 0,
            duration_ms: performance.now() - began,
            code,
            raw: message.slice(0, 200),
          },
        ],
      };
    }
  };
}

function parsed(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch {
    return null;
  }
}

function stepsOf(at: Readonly<Record<string, number | null>>, code: string | null): Step[] {
  let before = 0;
  return ['dns', 'tcp', 'tls', 'http'].flatMap((phase) => {
    const end = at[phase];
    if (end === null || end === undefined) return [];
    const step: Step = {
      phase,
      start_ms: round(before),
      duration_ms: round(end - before),
      code: phase === 'http' ? code : null,
      raw: null,
    };
    before = end;
    return [step];
  });
}

export const round = (ms: number): number => Math.round(ms * 10) / 10;

/** A field of JSON that nobody has checked. */
export function at(value: unknown, ...path: readonly (string | number)[]): unknown {
  let here: unknown = value;
  for (const key of path)
    here =
      typeof here === 'object' && here !== null
        ? (here as Record<string, unknown>)[key]
        : undefined;
  return here;
}
export const str = (value: unknown): string | null => (typeof value === 'string' ? value : null);
export const num = (value: unknown): number | null =>
  typeof value === 'number' && Number.isFinite(value) ? value : null;
export const list = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

export const evidence = (kind: string, source: string, value: unknown): Evidence => ({
  kind,
  source,
  observed_at: new Date().toISOString(),
  value,
});

/** The error code that the platform's own envelope names. */
export const errorCode = (answer: Answer): string | null =>
  answer.kind === 'answer' ? str(at(answer.json, 'error', 'code')) : null;

/** The API itself spoke: a gateway's 502 or a login page is no answer of the API. */
export const fromApi = (answer: Answer): answer is Answered =>
  answer.kind === 'answer' &&
  (answer.product === 'api' ||
    (answer.product === null && answer.json !== null && answer.status < 500));

/** It spoke, and gave what was asked for. */
export const granted = (answer: Answer): answer is Answered =>
  fromApi(answer) && answer.status >= 200 && answer.status < 300;

export const tell = (answer: Answer): string =>
  answer.kind === 'none'
    ? `${answer.phase}: ${answer.code}`
    : `${answer.status}${errorCode(answer) ? ` ${errorCode(answer)}` : answer.product === null ? ' (not the product)' : ''}`;
