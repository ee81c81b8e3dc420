import type { Finding, HopDeclaration } from '../../../preflight/types.ts';
import { text } from '../flags.ts';
import { claimSeconds, publicSeconds, sessionSeconds, stream } from '../policies.ts';
import type { Conversation } from '../probe/conversation.ts';
import { at, evidence, granted, list, str } from '../probe/http.ts';
import { drift } from '../probe/node-context.ts';
import { lacksForTerminal, type Session } from '../probe/session.ts';
import { type Task, taskOf } from '../probe/task.ts';
import { allWays, charged } from '../probe/ways.ts';
import { declaredTerminal } from './node-terminal-reachability.ts';

interface Records {
  readonly observations: readonly unknown[] | null;
  readonly refusals: readonly unknown[];
}

async function gatewayRecords(session: Session, id: string): Promise<Records> {
  const [token, cookie] = await Promise.all([session.operator(), session.cookie()]);
  const gateway = await session.gateway();
  const options = {
    ...(token !== undefined && { token }),
    ...(cookie !== undefined && { cookie }),
  };
  const since = new Date(session.run.startedAt.getTime() - 5000).toISOString();
  const [seen, refused] = await Promise.all([
    gateway(`/v1/sessions/${encodeURIComponent(id)}/observations`, options),
    gateway(`/v1/tls-refusals?since=${encodeURIComponent(since)}`, options),
  ]);
  const ok = (answer: typeof seen) => answer.kind === 'answer' && answer.status === 200;
  return {
    observations: ok(seen) && seen.kind === 'answer' ? list(at(seen.json, 'observations')) : null,
    refusals:
      refused.kind === 'answer' && ok(refused)
        ? list(at(refused.json, 'refusals')).filter((one) => at(one, 'session_id') === id)
        : [],
  };
}

function mtlsCause(code: string): string {
  if (/EXPIRED/.test(code)) return 'client_cert_expired';
  if (/missing|UNABLE_TO_GET_ISSUER_CERT$/.test(code)) return 'client_cert_missing';
  if (/mismatch/.test(code)) return 'client_identity_mismatch';
  return /UNABLE_TO|SELF_SIGNED|VERIFY|SIGNATURE/.test(code)
    ? 'client_cert_untrusted'
    : 'client_cert_rejected';
}

function mtlsFailed(records: Records): Finding | null {
  const refusal = records.refusals[0];
  const observed = records.observations?.find(
    (one) =>
      at(one, 'event') === 'node_stream_refused' &&
      /client_(certificate|identity)/.test(str(at(one, 'detail')) ?? ''),
  );
  if (refusal === undefined && observed === undefined) return null;
  const code =
    str(at(refusal, 'authorization_error')) ??
    str(at(observed, 'detail')) ??
    'client_certificate_rejected';
  return {
    status: 'fail',
    signal: 'terminal_node_stream_mtls_failed',
    cause: mtlsCause(code),
    blames: 'trust:gateway',
    summary: `the gateway refused the node's certificate: ${code}`,
  };
}

async function openTask(session: Session, id: string): Promise<Task | null> {
  const token = (await session.operator()) ?? (await session.user());
  const answer = await (await session.api())(
    `/v1/terminal/sessions/${encodeURIComponent(id)}`,
    token === undefined ? {} : { token },
  );
  return granted(answer) ? taskOf(at(answer.json, 'open_task')) : null;
}

async function noStream(session: Session, task: Task | null, records: Records): Promise<Finding> {
  const timeout = (cause: string, summary: string): Finding => ({
    status: 'fail',
    signal: 'terminal_node_stream_timeout',
    cause,
    blames: 'link:term',
    summary,
  });
  if (task?.status === 'completed')
    return {
      ...timeout('old_agent', 'terminal.open completed, and no stream ever came'),
      signal: 'terminal_open_without_stream',
    };
  const visit = text(session.request, 'node-host') === undefined ? null : await session.visit();
  const drifted = drift(
    visit?.sections?.env?.GPUAAS_TERMINAL_API_URL,
    await declaredTerminal(session),
  );
  const late =
    records.observations?.some((one) => /late/.test(str(at(one, 'detail')) ?? '')) === true ||
    /late/.test(task?.error ?? '');
  if (drifted)
    return timeout(
      'wrong_endpoint',
      `the agent uses ${drifted.effective}, declared is ${drifted.declared}`,
    );
  const slow =
    Number(visit?.sections?.term?.tls_at ?? 0) - Number(visit?.sections?.term?.start ?? 0) >
    stream(await session.policies()) * 500;
  if (late || slow) return timeout('late', 'the stream came after the gateway had given up');
  if (/session_not_found/.test(task?.error ?? ''))
    return timeout('other_replica', 'a listener that does not know the session took the stream');
  if (/404|not_found|not_gateway|unexpected/i.test(task?.error ?? ''))
    return timeout('wrong_endpoint', `what answered the stream is not the gateway: ${task?.error}`);
  return timeout(
    'no_stream',
    `no stream for the session; terminal.open ${task?.status ?? 'not told'}${task?.error ? ` (${task.error})` : ''}`,
  );
}

/**
 * A stream that is only late is explained by the way on which the time went: from the agent to the
 * listener; where the agent took the task late, the way to the API comes first, but need not be the
 * only one.
 */
async function chargedIfLate(
  session: Session,
  task: Task | null,
  found: Finding,
): Promise<Finding> {
  if (found.cause !== 'late' && found.cause !== 'no_stream') return found;
  const { createdAt = null, dispatchedAt = null } = task ?? {};
  const toAgent = createdAt === null || dispatchedAt === null ? null : dispatchedAt - createdAt;
  const most = (stream(await session.policies()) * 1000) / 3;
  const went = toAgent === null || toAgent > most ? allWays : allWays.slice(1);
  const times = { created_at: createdAt, dispatched_at: dispatchedAt, taken_after_ms: toAgent };
  return charged(session, { ...found, evidence: [evidence('open_task', 'api', times)] }, went);
}

/** A stream that is there needs no end of the session to be seen. */
const streamOrEnd = async (conversation: Conversation) =>
  streamSeen(conversation) ? null : conversation.end();

const streamSeen = (conversation: Conversation): boolean =>
  conversation.states().some((state) => state === 'node_stream_connected' || state === 'ready');

export const gatewayNodeStream: HopDeclaration<Session> = {
  id: 'gateway_node_stream',
  title: 'The gateway saw the node stream of this session',
  section: 'gateway observation of internal node stream',
  vantage: 'gateway',
  after: ['terminal_open_task'],
  explainedBy: ['node_recovery_status', 'terminal_open_task', 'node_terminal_reachability'],
  signals: [
    'terminal_node_stream_mtls_failed',
    'terminal_open_without_stream',
    'terminal_node_stream_timeout',
  ],
  deadlineMs: (policies) =>
    (4 * publicSeconds + claimSeconds(policies) + 2 * sessionSeconds(policies) + 1) * 1000,
  skip: lacksForTerminal,
  run: async (session, earlier) => {
    const [conversation, id] = await Promise.all([session.terminal(), session.sessionId()]);
    if (conversation === null || id === null || conversation.refused)
      return { status: 'unknown', summary: 'there is no session' };
    if (!streamSeen(conversation) && earlier('terminal_open_task').status !== 'pass')
      return {
        status: 'unknown',
        target: id,
        summary: 'no stream; whether the agent was told to open one is not known',
      };
    const end = await streamOrEnd(conversation);
    if (streamSeen(conversation))
      return {
        status: 'pass',
        target: id,
        summary: 'connected for this session',
        evidence: [evidence('states', 'browser', conversation.states())],
      };
    const records = await gatewayRecords(session, id);
    const connected =
      records.observations?.some((one) => at(one, 'event') === 'node_stream_connected') === true;
    const facts = {
      target: id,
      evidence: [
        evidence('observations', 'gateway', records.observations),
        evidence('tls_refusals', 'gateway', records.refusals),
        evidence('session_end', 'browser', end),
      ],
    };
    if (connected) return { ...facts, status: 'pass', summary: 'the gateway recorded the stream' };
    const refused = mtlsFailed(records);
    if (refused !== null) return { ...facts, ...refused };
    const task = await openTask(session, id);
    const missing = await noStream(session, task, records);
    const found = await chargedIfLate(session, task, missing);
    return { ...facts, ...found, evidence: [...facts.evidence, ...(found.evidence ?? [])] };
  },
};
