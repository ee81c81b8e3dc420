import type { Finding, HopDeclaration } from '../../../preflight/types.ts';
import { text } from '../flags.ts';
import { publicSeconds, sshSeconds, visitSeconds } from '../policies.ts';
import { type Answer, at, evidence, openClient, round, str, tell } from '../probe/http.ts';
import { freshness, readModel } from '../probe/read-model.ts';
import type { Session } from '../probe/session.ts';
import type { Visit } from '../probe/visit.ts';

async function guestAgent(session: Session): Promise<Answer | null> {
  const base = text(session.request, 'provider-url');
  if (base === undefined) return null;
  const token = await session.operator();
  const { run } = session;
  const client = openClient({
    base,
    correlationId: run.correlationId,
    signal: run.signal,
    timeoutMs: publicSeconds * 1000,
    defer: run.defer,
  });
  return client(
    `/v1/nodes/${encodeURIComponent(await session.nodeId())}/guest-agent`,
    token === undefined ? {} : { token },
  );
}

/** Does the agent poll? Only then a dead SSH is a trouble of its own. */
async function agentPolls(session: Session): Promise<'yes' | 'no' | 'unknown'> {
  if (text(session.request, 'api-base') === undefined) return 'unknown';
  const model = readModel(await session.node());
  if (model === null) return 'unknown';
  return freshness(model, await session.policies()) === 'stale' ? 'no' : 'yes';
}

function sshDown(
  visit: Visit & { ssh: { ok: false } },
  guest: string | null,
  polls: 'yes' | 'no' | 'unknown',
): Finding {
  const summary = `new SSH connection to ${visit.host}: ${visit.ssh.cause}`;
  if (polls === 'unknown')
    return {
      status: 'unknown',
      cause: visit.ssh.cause,
      summary: `${summary}; whether the agent polls is not known`,
    };
  if (guest === 'down')
    return {
      status: 'fail',
      signal: 'node_ops_access_unhealthy',
      cause: 'guest_agent_and_ssh_down',
      blames: 'link:ssh',
      summary: `${summary}; guest agent down as well`,
    };
  return {
    status: 'fail',
    signal: 'node_ops_ssh_failed',
    cause: visit.ssh.cause,
    blames: 'link:ssh',
    summary: `${summary}; ${polls === 'yes' ? 'the agent polls' : 'the agent does not poll'}`,
  };
}

export const nodeOpsAccess: HopDeclaration<Session> = {
  id: 'node_ops_access',
  side: true,
  title: 'Operators reach the node: a new SSH connection and the guest agent',
  section: 'operator access to the node',
  vantage: 'operator',
  after: [],
  explainedBy: ['node_heartbeat'],
  signals: ['node_ops_ssh_failed', 'node_ops_access_unhealthy'],
  // The visit goes on after the sentinel; this net is for the connection, the visit has its own.
  deadlineMs: (policies) => visitSeconds(policies) * 1000 + sshSeconds * 1000,
  skip: (request) => (text(request, 'node-host') === undefined ? 'no --node-host' : null),
  run: async (session) => {
    const [visit, asked] = await Promise.all([session.visit(), guestAgent(session)]);
    const guest = asked?.kind === 'answer' ? str(at(asked.json, 'guest_agent')) : null;
    const facts = {
      target: visit.host,
      evidence: [
        evidence(
          'ssh',
          'operator',
          visit.ssh.ok
            ? { ok: true, connect_ms: round(visit.connectMs) }
            : { ok: false, cause: visit.ssh.cause, detail: visit.ssh.detail },
        ),
        ...(asked ? [evidence('guest_agent', 'provider', guest ?? tell(asked))] : []),
      ],
    };
    if (!visit.ssh.ok) {
      if (visit.ssh.ours)
        return {
          ...facts,
          status: 'unknown',
          summary: `SSH could not be tried: ${visit.ssh.detail}`,
        };
      return {
        ...facts,
        ...sshDown(visit as Visit & { ssh: { ok: false } }, guest, await agentPolls(session)),
      };
    }
    const summary = `SSH and sentinel ok in ${round(visit.connectMs)} ms`;
    if (guest === 'down')
      return { ...facts, status: 'warn', summary: `${summary}; the guest agent is silent` };
    return {
      ...facts,
      status: 'pass',
      summary: `${summary}; guest agent ${asked === null ? 'not asked (no --provider-url)' : (guest ?? `unknown (${tell(asked)})`)}`,
    };
  },
};
