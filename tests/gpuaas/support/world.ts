// A person at the platform: its public API and terminals, besides the machines it runs on. It knows
// nothing of faults, ledgers or scenarios.
import { setTimeout as sleep } from 'node:timers/promises';
import { request } from '../../../harness/drivers/http.ts';
import { openTerminal, type Terminal, UpgradeRefused } from '../../../harness/drivers/websocket.ts';
import { type Json, Machines } from './machines.ts';

export type { Json } from './machines.ts';

/** How a terminal attempt ended: the code of the structured error, or `ready`. */
export interface Attempt {
  readonly code: string;
  readonly message: string;
  readonly correlationId: string;
  readonly sessionId: string | null;
}

export class World extends Machines {
  get #ca(): string {
    return this.secret(this.profile.connect.caFile);
  }

  get #at(): { resolveAddress?: string } {
    const { address } = this.profile.connect;
    return address === undefined ? {} : { resolveAddress: address };
  }

  async call(
    method: string,
    url: string,
    token: string | null,
    body?: unknown,
    headers: Record<string, string> = {},
  ) {
    const answer = await request({
      method,
      url,
      ca: this.#ca,
      ...this.#at,
      headers: {
        ...(token !== null && { authorization: `Bearer ${token}` }),
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
      timeoutMs: 8000,
    });
    let json: Json = null;
    try {
      json = JSON.parse(answer.body);
    } catch {
      // nginx's own pages are no JSON
    }
    return { ...answer, json };
  }

  /** The token of one of the box's people: `operator`, `user`, and those no profile names. */
  tokenOf(who: string): string {
    return this.secret(this.profile.credentials.operator?.replace('operator', who));
  }
  get operatorToken(): string {
    return this.tokenOf('operator');
  }
  get userToken(): string {
    return this.tokenOf('user');
  }

  api(
    method: string,
    path: string,
    token: string | null = this.operatorToken,
    body?: unknown,
    headers?: Record<string, string>,
  ) {
    return this.call(method, `${this.profile.endpoints.api}${path}`, token, body, headers);
  }
  terminalHost(method: string, path: string, token: string | null = null) {
    return this.call(method, `${this.profile.endpoints.terminal}${path}`, token);
  }
  async readModel(node: string): Promise<Json> {
    return (await this.api('GET', `/v1/nodes/${node}`)).json;
  }
  async history(node: string, since: Date): Promise<Json[]> {
    return (
      (await this.api('GET', `/v1/nodes/${node}/history?since=${since.toISOString()}`)).json
        ?.events ?? []
    );
  }
  allocationOf(node: string): string {
    const known = this.profile.nodes[node];
    if (!known) throw new Error(`no node ${node}`);
    return String(known.own.allocation);
  }
  async userState(node: string): Promise<string> {
    return (
      (await this.api('GET', `/v1/allocations/${this.allocationOf(node)}`, this.userToken)).json
        ?.user?.state ?? 'no answer'
    );
  }

  /** Opens a terminal as a user does; the caller closes it. */
  async terminal(node: string): Promise<Terminal> {
    const minted = await this.api(
      'POST',
      `/v1/allocations/${this.allocationOf(node)}/terminal-token`,
      this.userToken,
    );
    if (minted.status !== 201)
      throw new UpgradeRefused(
        minted.json?.error?.code ?? `mint ${minted.status}`,
        minted.status,
        minted.body,
        null,
      );
    return this.socket(`${this.profile.endpoints.terminal}/ws/terminal`, [
      'gpuaas.terminal.v1',
      `token.${minted.json.token}`,
    ]);
  }

  /** A WebSocket at a public host, signed in at the edge. */
  socket(url: string, protocols: readonly string[]): Promise<Terminal> {
    return openTerminal({
      url: url.replace(/^http/, 'ws'),
      protocols,
      cookie: `gpuaas_edge=${this.secret(this.profile.credentials['edge-cookie'])}`,
      ca: this.#ca,
      ...this.#at,
      timeoutMs: 8000,
    });
  }

  /** Tries a terminal and says how it ended. */
  async tryTerminal(node: string): Promise<Attempt> {
    const nothing = { message: '', correlationId: '', sessionId: null };
    try {
      const terminal = await this.terminal(node);
      const end = await terminal.waitFor(
        (frames) =>
          frames
            .filter((frame) => frame.kind === 'text')
            .map((frame) => JSON.parse(frame.text))
            .find((frame) => frame.type === 'ready' || frame.type === 'error'),
        20_000,
      );
      await terminal.close();
      const code =
        end.type === 'ready' ? 'ready' : [end.code, end.reason].filter(Boolean).join(':');
      return {
        code,
        message: end.message ?? '',
        correlationId: end.correlation_id,
        sessionId: end.session_id ?? null,
      };
    } catch (error) {
      if (!(error instanceof UpgradeRefused))
        return { ...nothing, code: `no frame: ${String(error)}` };
      let body: Json = null;
      try {
        body = JSON.parse(error.body);
      } catch {
        // an answer of the edge's own
      }
      return {
        ...nothing,
        code: body?.error?.code ?? `refused ${error.status ?? error.code ?? error.message}`,
        correlationId: body?.error?.correlation_id ?? '',
      };
    }
  }

  async observations(sessionId: string): Promise<Json[]> {
    return (
      (await this.terminalHost('GET', `/v1/sessions/${sessionId}/observations`, this.operatorToken))
        .json?.observations ?? []
    );
  }
  async tlsRefusals(since: Date): Promise<Json[]> {
    return (
      (
        await this.terminalHost(
          'GET',
          `/v1/tls-refusals?since=${since.toISOString()}`,
          this.operatorToken,
        )
      ).json?.refusals ?? []
    );
  }

  /** Heartbeat current, nothing classified, and a shell that answers, on both nodes. */
  async green(): Promise<string | null> {
    for (const node of Object.keys(this.profile.nodes)) {
      const model = await this.readModel(node).catch(() => null);
      if (model?.agent_status !== 'healthy')
        return `${node} is ${model?.agent_status ?? 'unanswered'} (${model?.recovery?.reason})`;
      if (model.recovery.reason !== null) return `${node}: ${model.recovery.reason}`;
      const attempt = await this.tryTerminal(node);
      if (attempt.code !== 'ready') return `${node}: terminal ${attempt.code}`;
    }
    return null;
  }

  /**
   * Asks until the answer is not null, undefined or false; says what it waited for when it gives
   * up.
   */
  async until<T>(
    what: string,
    seconds: number,
    ask: () => Promise<T | null | undefined | false>,
  ): Promise<T> {
    const end = performance.now() + seconds * 1000;
    for (;;) {
      const answer = await ask();
      if (answer) return answer;
      if (performance.now() > end) throw new Error(`${what}: not within ${seconds} s`);
      await sleep(200);
    }
  }
  async untilGreen(seconds = 40): Promise<void> {
    let last: string | null = 'never asked';
    const isGreen = async () => {
      last = await this.green().catch(String);
      return last === null;
    };
    await this.until('green platform', seconds, isGreen).catch(() => {
      throw new Error(`the platform is not green after ${seconds} s: ${last}`);
    });
  }
}
