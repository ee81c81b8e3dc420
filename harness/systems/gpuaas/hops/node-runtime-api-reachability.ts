import type { Evidence, Finding, HopDeclaration } from '../../../preflight/types.ts';
import { text } from '../flags.ts';
import { dialSeconds, secondLookSeconds, visitSeconds } from '../policies.ts';
import { blamedLink, type Dial, readCertificateDial, readDial } from '../probe/dial.ts';
import { evidence, round } from '../probe/http.ts';
import { withoutNode } from '../probe/node-context.ts';
import { freshness, readModel } from '../probe/read-model.ts';
import { hasOperator, type Session } from '../probe/session.ts';
import type { Visit } from '../probe/visit.ts';
import { agentOffset, withWord } from '../probe/word.ts';

/** Without a way into the node, a heartbeat that is current has travelled this hop. */
async function byHeartbeat(session: Session, otherwise: Finding): Promise<Finding> {
  if (text(session.request, 'api-base') === undefined || !hasOperator(session.request))
    return otherwise;
  const model = readModel(await session.node());
  if (model === null || freshness(model, await session.policies()) !== 'current') return otherwise;
  return {
    status: 'pass',
    vantage: 'control_plane',
    summary: `a heartbeat ${round((model.ageMs ?? 0) / 1000)} s old came this way; ${otherwise.summary}`,
    evidence: [evidence('heartbeat_age_ms', 'api', model.ageMs)],
  };
}

const serverError = (dial: Dial | null): boolean =>
  dial?.status !== null && dial?.status !== undefined && dial.status >= 500;

function verdict(visit: Visit, dial: Dial, withCertificate: Dial | null): Finding {
  const facts = { target: dial.url, steps: dial.steps, deadlineMs: dialSeconds * 1000 };
  // The ingress may refuse the missing certificate itself; only behind it shows whether the API is
  // there.
  const down = [dial, withCertificate].find(serverError);
  if (down)
    return {
      ...facts,
      status: 'fail',
      signal: 'node_agent_api_unreachable',
      cause: 'api_down',
      blames: 'service:api',
      summary: `${dial.endpoint}: answer ${down.status}`,
    };
  if (dial.outcome === 'answered')
    return { ...facts, status: 'pass', summary: dial.summary, ruledOut: [] };
  const signal =
    dial.outcome === 'tls_failed' ? 'node_agent_api_tls_failed' : 'node_agent_api_unreachable';
  return {
    ...facts,
    status: 'fail',
    signal,
    cause: dial.cause ?? 'tls_failed',
    blames: blamedLink(visit, dial) ?? 'link:node-api',
    summary: dial.summary,
  };
}

function contextOf(visit: Visit): Evidence[] {
  const { env, hosts, process, recovery } = visit.sections ?? {};
  return [
    evidence('asked_as', 'node', {
      user: process?.user ?? null,
      namespaces_of_its_own: process?.namespaces ?? null,
      clock_against_node_ms: agentOffset(visit),
    }),
    evidence('effective_environment', 'node', env ?? null),
    evidence(
      'clock_offset_ms',
      'node',
      visit.clockOffsetMs === null ? null : round(visit.clockOffsetMs),
    ),
    evidence('names', 'node', hosts ?? null),
    ...(recovery ? [evidence('recovery_listener', 'node', recovery.code ?? null)] : []),
  ];
}

function besides(visit: Visit): Evidence[] {
  const declared = readDial(visit, 'want-api', 'link:node-api');
  return declared
    ? [
        evidence('declared_endpoint', 'node', {
          url: declared.url,
          outcome: declared.outcome,
          cause: declared.cause,
          summary: declared.summary,
        }),
      ]
    : [];
}

export const nodeRuntimeApiReachability: HopDeclaration<Session> = {
  id: 'node_runtime_api_reachability',
  title:
    'From the node, in the context of the agent, the node-facing API answers over verified TLS',
  section: 'API TCP/TLS reachability from the node',
  vantage: 'node_as_agent',
  after: [],
  explainedBy: [],
  signals: ['node_agent_api_unreachable', 'node_agent_api_tls_failed'],
  deadlineMs: (policies) => (visitSeconds(policies) + secondLookSeconds) * 1000,
  skip: (request) => (text(request, 'node-host') === undefined ? 'no --node-host' : null),
  run: async (session) => {
    const visit = await session.visit();
    const missing = withoutNode(visit);
    if (missing) return byHeartbeat(session, missing);
    const dial = readDial(visit, 'api', 'link:node-api');
    const facts = contextOf(visit);
    if (!dial)
      return {
        status: 'unknown',
        summary: 'the node tells no GPUAAS_API_URL and none was given',
        evidence: facts,
      };
    const finding = verdict(visit, dial, readCertificateDial(visit, 'api', 'link:node-api'));
    const clock =
      visit.clockOffsetMs === null
        ? []
        : [{ what: 'clock', because: `offset ${round(visit.clockOffsetMs)} ms` }];
    return withWord(session, 'node_runtime_api_reachability', {
      ...finding,
      evidence: [...facts, ...besides(visit)],
      ruledOut: finding.blames === 'clock' ? [] : clock,
    });
  },
};
