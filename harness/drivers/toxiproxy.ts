/**
 * Toxiproxy by toxiproxy-node-client, with what that lacks: a deadline on each call (its API can
 * hang while a toxic goes away), the server's own error text, encoded names, and a read after each
 * change, because its objects go stale.
 */
import { Proxy as ProxyClient, Toxiproxy } from 'toxiproxy-node-client';
import { z } from 'zod';
import { messageOf } from '../base/message-of.ts';
import { measure } from '../base/spans.ts';
import type { ToxiproxyAction } from '../records/action.ts';
import { DriverError } from './errors.ts';

type Toxic = NonNullable<ToxiproxyAction['toxic']>;

/** What each toxic understands; the server takes unknown names without a word. */
export const toxicAttributes: Readonly<Record<string, readonly string[]>> = {
  latency: ['latency', 'jitter'],
  bandwidth: ['rate'],
  slow_close: ['delay'],
  timeout: ['timeout'],
  reset_peer: ['timeout'],
  slicer: ['average_size', 'size_variation', 'delay'],
  limit_data: ['bytes'],
};

const toxicState = z.object({
  name: z.string(),
  type: z.string(),
  stream: z.enum(['upstream', 'downstream']),
  toxicity: z.number(),
  attributes: z.record(z.string(), z.number()),
});
const proxyState = z.object({
  name: z.string(),
  listen: z.string(),
  upstream: z.string(),
  enabled: z.boolean(),
  toxics: z.array(toxicState),
});
export type ProxyState = z.infer<typeof proxyState>;

export interface ToxiproxyDriver {
  version(): Promise<string>;
  readAll(): Promise<ProxyState[]>;
  read(proxy: string): Promise<ProxyState>;
  addToxic(proxy: string, toxic: Toxic): Promise<ProxyState>;
  /** Harmless when the toxic is gone. Ends the connections that a toxic may have stuck. */
  removeToxic(proxy: string, toxic: string): Promise<ProxyState>;
  setEnabled(proxy: string, enabled: boolean): Promise<ProxyState>;
}

export function openToxiproxy(url: string, options: { deadlineMs?: number } = {}): ToxiproxyDriver {
  const base = url.replace(/\/$/, '');
  const client = new Toxiproxy(base);
  Object.assign(client, { api: httpWithDeadline(options.deadlineMs ?? 2000) });
  const call = <T>(what: string, work: () => Promise<T>): Promise<T> =>
    measure('driver', `toxiproxy ${what}`, work);

  const read = async (name: string): Promise<ProxyState> => {
    const { data } = await client.api.get<unknown>(`${base}/proxies/${encodeURIComponent(name)}`);
    return parseProxy(name, data);
  };
  // The package puts the name into its URLs as it is.
  const handle = (name: string): ProxyClient =>
    new ProxyClient(client, {
      name: encodeURIComponent(name),
      listen: '',
      upstream: '',
      enabled: true,
      toxics: [],
    });
  const update = async (state: ProxyState, enabled: boolean): Promise<void> => {
    await handle(state.name).update({ enabled, listen: state.listen, upstream: state.upstream });
  };
  const setEnabled = async (name: string, enabled: boolean): Promise<ProxyState> => {
    await update(await read(name), enabled);
    const after = await read(name);
    if (after.enabled !== enabled)
      throw new DriverError(
        'toxiproxy',
        'failed',
        `${name} did not become ${enabled ? 'enabled' : 'disabled'}`,
      );
    return after;
  };
  return {
    version: () => call('version', () => client.getVersion()),
    readAll: () =>
      call('read all', async () =>
        Object.values(
          (await client.api.get<Record<string, unknown>>(`${base}/proxies`)).data ?? {},
        ).map((one) => parseProxy('?', one)),
      ),
    read: (name) => call(`read ${name}`, () => read(name)),
    setEnabled: (name, enabled) =>
      call(`${enabled ? 'enable' : 'disable'} ${name}`, () => setEnabled(name, enabled)),
    addToxic: (name, toxic) =>
      call(`add ${toxic.type} to ${name}`, async () => {
        checkAttributes(toxic);
        await handle(name).addToxic(toxic as never);
        const after = await read(name);
        const found = after.toxics.find((one) => one.name === toxic.name);
        const kept =
          found !== undefined &&
          Object.entries(toxic.attributes).every(([key, value]) => found.attributes[key] === value);
        if (!kept)
          throw new DriverError(
            'toxiproxy',
            'failed',
            `${name} does not show toxic ${toxic.name} as it was asked for`,
          );
        return after;
      }),
    removeToxic: (name, toxic) =>
      call(`remove ${toxic} from ${name}`, () =>
        removeToxic(name, toxic, { base, client, read, setEnabled }),
      ),
  };
}

interface Inner {
  readonly base: string;
  readonly client: Toxiproxy;
  read(name: string): Promise<ProxyState>;
  setEnabled(name: string, enabled: boolean): Promise<ProxyState>;
}

/**
 * A connection held by `timeout` or `slow_close` stays held after the toxic is gone, and the
 * removal itself can wait for it. So the proxy is switched off and on, which ends its connections:
 * clients come back through a clean path.
 */
async function removeToxic(name: string, toxic: string, inner: Inner): Promise<ProxyState> {
  const before = await inner.read(name);
  const found = before.toxics.find((one) => one.name === toxic);
  if (found === undefined) return before;
  const sticks = ['timeout', 'slow_close', 'limit_data', 'bandwidth', 'reset_peer'].includes(
    found.type,
  );
  if (sticks && before.enabled) await inner.setEnabled(name, false);
  try {
    await inner.client.api.delete(
      `${inner.base}/proxies/${encodeURIComponent(name)}/toxics/${encodeURIComponent(toxic)}`,
    );
  } catch (error) {
    // Gone meanwhile is what was asked for; the read below decides.
    if (!(error instanceof DriverError && error.status === 404)) throw error;
  } finally {
    if (sticks && before.enabled) await inner.setEnabled(name, true);
  }
  const after = await inner.read(name);
  if (after.toxics.some((one) => one.name === toxic))
    throw new DriverError('toxiproxy', 'failed', `${name} still shows toxic ${toxic}`);
  return after;
}

function checkAttributes(toxic: Toxic): void {
  const known = toxicAttributes[toxic.type];
  if (known === undefined)
    throw new DriverError(
      'toxiproxy',
      'bad_request',
      `no toxic is called ${toxic.type} (${Object.keys(toxicAttributes).join(', ')})`,
    );
  const unknown = Object.keys(toxic.attributes).find((key) => !known.includes(key));
  if (unknown !== undefined)
    throw new DriverError(
      'toxiproxy',
      'bad_request',
      `${toxic.type} has no attribute ${unknown} (${known.join(', ')})`,
    );
}

function parseProxy(name: string, data: unknown): ProxyState {
  const parsed = proxyState.safeParse(data);
  if (!parsed.success)
    throw new DriverError('toxiproxy', 'failed', `${name}: unexpected answer of the server`, {
      cause: parsed.error,
    });
  return parsed.data;
}

/** Takes the place of the package's own HTTP client. */
function httpWithDeadline(deadlineMs: number) {
  const send = async (method: string, url: string, body?: unknown): Promise<string> => {
    const path = new URL(url).pathname;
    try {
      const json =
        body === undefined
          ? {}
          : { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } };
      const response = await fetch(url, {
        method,
        ...json,
        signal: AbortSignal.timeout(deadlineMs),
      });
      const text = await response.text();
      if (response.ok) return text;
      const code = response.status === 404 ? 'missing' : 'bad_request';
      throw new DriverError(
        'toxiproxy',
        code,
        `${method} ${path}: ${response.status} ${text.trim().slice(0, 200)}`,
        {
          status: response.status,
        },
      );
    } catch (error) {
      if (error instanceof DriverError) throw error;
      const late = error instanceof Error && error.name === 'TimeoutError';
      const cause =
        error instanceof Error && error.cause instanceof Error
          ? error.cause.message
          : messageOf(error);
      throw new DriverError(
        'toxiproxy',
        late ? 'timeout' : 'unreachable',
        `${method} ${path}: ${late ? `no answer within ${deadlineMs} ms` : cause}`,
        { cause: error },
      );
    }
  };
  const json = async (method: string, url: string, body?: unknown) => {
    const text = await send(method, url, body);
    return { data: text === '' ? undefined : (JSON.parse(text) as unknown) };
  };
  return {
    get: (url: string) => json('GET', url),
    post: (url: string, body?: unknown) => json('POST', url, body),
    delete: async (url: string) => void (await send('DELETE', url)),
    getText: (url: string) => send('GET', url),
  };
}
