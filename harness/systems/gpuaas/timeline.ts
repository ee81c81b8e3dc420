import type { HookContext, PlatformEvent, Timeline } from '../hooks.ts';
import { api, gatewayApi, type NodeModel, nodeOf } from './platform.ts';

/** The platform's own records of the window: changes of the classified status, audit, gateway. */
interface Happened {
  readonly at: string;
  readonly correlation_id?: string | null;
}

interface Change extends Happened {
  readonly kind: string;
  readonly reason: string | null;
  readonly user_state: string | null;
  readonly agent_status: string | null;
}
interface Audited extends Happened {
  readonly actor_id: string;
  readonly action: string;
  readonly target: string;
  readonly result: string;
  readonly reason: string | null;
}
interface Observed extends Happened {
  readonly event: string;
  readonly detail?: string | null;
}
interface Refused extends Happened {
  readonly serial: string | null;
  readonly san: string | null;
  readonly authorization_error: string | null;
}

/** What is not known is left out. */
const listed = (words: readonly (string | null)[]): string =>
  words.filter((word) => word !== null).join(', ');

const event = (source: string, one: Happened, what: string, detail: string): PlatformEvent => ({
  at: one.at,
  source,
  what,
  detail,
  correlation_id: one.correlation_id ?? null,
});

/** Reads a record; one that cannot be read says so on the line, and the others are still there. */
async function read<T>(
  source: string,
  work: () => Promise<T>,
  lines: (found: T) => PlatformEvent[],
): Promise<PlatformEvent[]> {
  try {
    return lines(await work());
  } catch (error) {
    return [
      event(
        source,
        { at: new Date().toISOString() },
        'could not be read',
        (error as Error).message,
      ),
    ];
  }
}

/** The platform's clock against ours, by the middle of the request that asked for it. */
async function clockOffset(ask: () => Promise<NodeModel & { now?: string }>): Promise<number> {
  const before = Date.now();
  const { now } = await ask();
  const after = Date.now();
  if (now === undefined) return 0;
  const offset = Date.parse(now) - (before + after) / 2;
  // Less than the request took is not measured, it is noise.
  return Math.abs(offset) <= (after - before) / 2 ? 0 : Math.round(offset);
}

const statusChanges = (context: HookContext, node: string, since: string) =>
  read(
    'history',
    () => api<{ events: Change[] }>(context, 'GET', `/v1/nodes/${node}/history?since=${since}`),
    ({ events }) =>
      events.map((one) =>
        event('history', one, one.kind, listed([one.reason, one.agent_status, one.user_state])),
      ),
  );

const auditRows = (context: HookContext, since: string) =>
  read(
    'audit',
    () => api<{ rows: Audited[] }>(context, 'GET', `/v1/audit?since=${since}`),
    ({ rows }) =>
      rows.map((row) =>
        event('audit', row, row.action, listed([row.target, row.result, row.reason])),
      ),
  );

const sessionObservations = (context: HookContext, sessionId: string | null = null) =>
  read(
    'gateway',
    async () =>
      sessionId === null
        ? { observations: [] }
        : gatewayApi<{ observations: Observed[] }>(
            context,
            `/v1/sessions/${sessionId}/observations`,
          ),
    ({ observations }) =>
      observations.map((one) => event('gateway', one, one.event, one.detail ?? '')),
  );

const tlsRefusals = (context: HookContext, since: string) =>
  read(
    'gateway',
    () => gatewayApi<{ refusals: Refused[] }>(context, `/v1/tls-refusals?since=${since}`),
    ({ refusals }) =>
      refusals.map((one) =>
        event(
          'gateway',
          one,
          'tls refused',
          listed([one.serial, one.san, one.authorization_error]),
        ),
      ),
  );

export const timeline: Timeline = async (context) => {
  const since = encodeURIComponent(context.since);
  const node = nodeOf(context).name;
  const [clockOffsetMs, ...lists] = await Promise.all([
    clockOffset(() => api(context, 'GET', `/v1/nodes/${node}`)),
    statusChanges(context, node, since),
    auditRows(context, since),
    sessionObservations(context, context.subject?.session_id),
    tlsRefusals(context, since),
  ]);
  return { clockOffsetMs, events: lists.flat() };
};
