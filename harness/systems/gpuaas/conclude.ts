// What only the whole says: what the user sees, how far the trouble reaches, and what this run is a
// proof of.
import type { Conclusion, Finding } from '../../preflight/types.ts';
import type { PreflightReport } from '../../records/preflight.ts';
import { on, text } from './flags.ts';
import { at, fromApi, granted, list, str } from './probe/http.ts';
import { readModel } from './probe/read-model.ts';
import { hasOperator, type Session } from './probe/session.ts';

type UserState = PreflightReport['user_state'];
const userStates: readonly string[] = [
  'normal',
  'temporary',
  'recovering',
  'operator_action_required',
  'security_action_required',
];
const asState = (value: string | null): UserState =>
  value !== null && userStates.includes(value) ? (value as UserState) : null;
const nodeSide = new Set([
  'node_runtime_api_reachability',
  'node_recovery_status',
  'node_heartbeat',
]);

const hasApi = (session: Session): boolean => text(session.request, 'api-base') !== undefined;

async function userState(session: Session, healthy: boolean): Promise<UserState> {
  if (!hasApi(session)) return null;
  if (text(session.request, 'allocation-id') !== undefined) {
    // Asked before the faults of this second were known; a failure is worth a second look.
    const allocation = await session.allocation();
    const first = granted(allocation) ? asState(str(at(allocation.json, 'user', 'state'))) : null;
    if ((healthy && first !== null) || !fromApi(allocation)) return first;
    const token = (await session.operator()) ?? (await session.user());
    const again = await (await session.api())(
      `/v1/allocations/${encodeURIComponent(text(session.request, 'allocation-id') ?? '')}`,
      token === undefined ? {} : { token },
    );
    return granted(again) ? (asState(str(at(again.json, 'user', 'state'))) ?? first) : first;
  }
  return hasOperator(session.request)
    ? asState(readModel(await session.node())?.userState ?? null)
    : null;
}

/** From this very session: a user who opens a terminal now meets the same. */
function userAccess(findings: ReadonlyMap<string, Finding>): Conclusion['userAccess'] {
  const chain = [
    'terminal_token_mint',
    'terminal_public_route',
    'browser_terminal_ws',
    'terminal_open_task',
    'gateway_node_stream',
    'workload_terminal_startup_failure',
  ];
  const statuses = chain.map((id) => findings.get(id)?.status);
  if (statuses.includes('fail')) return 'error';
  return findings.get('workload_terminal_startup_failure')?.status === 'pass' ? 'ok' : null;
}

/** The API, or the database under it, answers nobody. */
const apiIsAway = new Set(['api_down', 'database_unavailable']);

/** Every node stale at once, or an API that is away, is one trouble of the fleet. */
async function scope(
  session: Session,
  failed: string | null,
  findings: ReadonlyMap<string, Finding>,
): Promise<Conclusion['scope']> {
  if (failed === null) return null;
  if (apiIsAway.has(findings.get(failed)?.cause ?? '')) return 'fleet';
  if (!nodeSide.has(failed)) return 'node';
  const token = await session.operator();
  // Nobody is asked twice who did not answer.
  if (!hasApi(session) || token === undefined || !fromApi(await session.node())) return 'node';
  const answer = await (await session.api())('/v1/nodes', { token });
  const nodes = granted(answer) ? list(at(answer.json, 'nodes') ?? answer.json) : [];
  const down = nodes.filter((node) => at(node, 'heartbeat', 'stale') === true);
  return nodes.length > 1 && down.length === nodes.length ? 'fleet' : 'node';
}

async function proof(
  session: Session,
  findings: ReadonlyMap<string, Finding>,
): Promise<string | null> {
  const smoke = on(session.request, 'run-ws-smoke');
  const ws = findings.get('browser_terminal_ws');
  if (!ws || ws.status === 'skipped') return smoke ? 'none: the WebSocket was not asked' : null;
  if (ws.cause === 'edge_auth_required')
    return 'none: the edge wants a login, and no cookie was given';
  const cookie = (await session.cookie()) !== undefined;
  if (text(session.request, 'allocation-id') === undefined)
    return `route classification only${cookie ? ', authenticated at the edge' : ', without an edge cookie'}`;
  return cookie
    ? 'browser-equivalent: authenticated edge, upgrade, frames and a computed answer of the shell'
    : 'without an edge cookie: not browser-equivalent where the edge asks for a login';
}

export async function conclude(
  session: Session,
  { failed, findings }: { failed: string | null; findings: ReadonlyMap<string, Finding> },
): Promise<Conclusion> {
  const [state, reach, shown, sessionId, nodeId] = await Promise.all([
    userState(session, failed === null),
    scope(session, failed, findings),
    proof(session, findings),
    hasApi(session) ? session.sessionId().catch(() => null) : null,
    session.nodeId().catch(() => 'unknown'),
  ]);
  return {
    userState: state,
    userAccess: userAccess(findings),
    scope: reach,
    subject: {
      node_id: nodeId === 'unknown' ? null : nodeId,
      allocation_id: text(session.request, 'allocation-id') ?? null,
      session_id: sessionId,
    },
    proof: shown,
  };
}

/** Leaves the note that the dashboard shows as last successful preflight. */
export async function leaveNote(session: Session): Promise<void> {
  const token = await session.operator();
  if (!hasApi(session) || token === undefined) return;
  const body = {
    node_id: await session.nodeId(),
    allocation_id: text(session.request, 'allocation-id') ?? null,
    result: 'healthy',
    correlation_id: session.run.correlationId,
  };
  await (await session.api())('/v1/preflights', { method: 'POST', token, body, timeoutMs: 500 });
}

/**
 * `--attach`: the record of a node that cannot upload it itself becomes host evidence at the
 * platform.
 */
export async function attach(session: Session): Promise<void> {
  if (!on(session.request, 'attach') || !hasApi(session)) return;
  const [visit, token] = await Promise.all([session.visit(), session.operator()]);
  const record = visit.sections?.record?.json;
  if (record === undefined || token === undefined) return;
  await (await session.api())(`/v1/nodes/${encodeURIComponent(await session.nodeId())}/evidence`, {
    method: 'POST',
    token,
    body: JSON.parse(record),
  });
}
