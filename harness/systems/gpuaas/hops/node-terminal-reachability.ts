import { readFile } from 'node:fs/promises';
import type { Evidence, Finding, HopDeclaration } from '../../../preflight/types.ts';
import { text } from '../flags.ts';
import { stream, terminalDialSeconds, visitSeconds } from '../policies.ts';
import { blamedLink, type Dial, readDial } from '../probe/dial.ts';
import { at, evidence, granted, list, round, str } from '../probe/http.ts';
import { drift, withoutNode } from '../probe/node-context.ts';
import { hasOperator, type Session } from '../probe/session.ts';

/**
 * Seed 000's "works in kind but not demo": the saved report of an environment in which this very
 * hop passes.
 */
async function worksElsewhere(session: Session): Promise<string | null> {
  const file = text(session.request, 'compare-profile');
  if (file === undefined) return null;
  const other: unknown = JSON.parse(await readFile(file, 'utf8'));
  const hop = list(at(other, 'hops')).find((one) => at(one, 'id') === 'node_terminal_reachability');
  if (at(hop, 'status') !== 'pass') return null;
  return `${str(at(other, 'environment', 'profile')) ?? 'another environment'} reaches ${str(at(hop, 'target')) ?? 'its endpoint'}`;
}

/** The URL that the profile declares, from whoever tells it. */
export async function declaredTerminal(session: Session): Promise<string | null> {
  const given = text(session.request, 'node-terminal-url');
  if (given !== undefined) return given;
  if (text(session.request, 'api-base') === undefined || !hasOperator(session.request)) return null;
  const profile = await session.profile();
  return granted(profile) ? str(at(profile.json, 'terminal_api_url')) : null;
}

async function failed(
  session: Session,
  dial: Dial,
  blames: string,
  drifted: boolean,
): Promise<Finding> {
  const elsewhere = await worksElsewhere(session);
  const facts = { blames, summary: dial.summary };
  if (elsewhere !== null)
    return {
      ...facts,
      status: 'fail',
      signal: 'terminal_env_profile_drift',
      cause: 'profile_drift',
      summary: `${dial.summary}; ${elsewhere}`,
    };
  return {
    ...facts,
    status: 'fail',
    signal: 'terminal_node_stream_timeout',
    cause: drifted ? 'profile_drift' : (dial.cause ?? 'tls_failed'),
  };
}

export const nodeTerminalReachability: HopDeclaration<Session> = {
  id: 'node_terminal_reachability',
  title: 'From the node, in the context of the agent, the terminal listener answers TCP and TLS',
  section: 'node-facing terminal WebSocket TCP/TLS reachability from the node',
  vantage: 'node_as_agent',
  after: [],
  explainedBy: [{ hop: 'browser_terminal_ws', whenBlames: 'service:gateway' }],
  signals: ['terminal_node_stream_timeout', 'terminal_env_profile_drift'],
  deadlineMs: (policies) => (visitSeconds(policies) + 1) * 1000,
  skip: (request) => (text(request, 'node-host') === undefined ? 'no --node-host' : null),
  run: async (session) => {
    const visit = await session.visit();
    const missing = withoutNode(visit);
    if (missing) return missing;
    const policies = await session.policies();
    const dial = readDial(visit, 'term', 'link:term');
    if (!dial)
      return {
        status: 'unknown',
        summary: 'the node tells no GPUAAS_TERMINAL_API_URL and none was given',
      };
    const drifted = drift(dial.url, await declaredTerminal(session));
    const declared = readDial(visit, 'want-term', 'link:term');
    const seen: Evidence[] = [
      evidence('endpoint', 'node', {
        url: dial.url,
        issuer: dial.issuer,
        status: dial.status,
        product: dial.product,
        asks_for_certificate: dial.asksForCertificate,
      }),
      ...(drifted ? [evidence('profile_drift', 'node', drifted)] : []),
      ...(declared
        ? [
            evidence('declared_endpoint', 'node', {
              url: declared.url,
              outcome: declared.outcome,
              cause: declared.cause,
            }),
          ]
        : []),
    ];
    const facts = {
      target: dial.url,
      steps: dial.steps,
      evidence: seen,
      deadlineMs: terminalDialSeconds(policies) * 1000,
    };
    // TCP and the server's certificate are this hop; what the listener says to ours is judged where
    // the stream is.
    if (!dial.verified)
      return {
        ...facts,
        ...(await failed(session, dial, blamedLink(visit, dial) ?? 'link:term', drifted !== null)),
      };
    const reached =
      Number(visit.sections?.term?.tls_at ?? visit.sections?.term?.done ?? 0) -
      Number(visit.sections?.term?.start ?? 0);
    const summary = `${dial.endpoint}: tcp and tls ok in ${round(reached)} ms`;
    if (reached > stream(policies) * 1000)
      return {
        ...facts,
        status: 'warn',
        summary: `${summary}, slower than the node-stream timeout`,
      };
    return {
      ...facts,
      status: drifted ? 'warn' : 'pass',
      summary: drifted ? `${summary}; declared is ${drifted.declared}` : summary,
    };
  },
};
