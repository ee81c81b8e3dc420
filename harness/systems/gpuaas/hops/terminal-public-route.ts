import type { Finding, HopDeclaration } from '../../../preflight/types.ts';
import { text } from '../flags.ts';
import { publicSeconds } from '../policies.ts';
import { type Answered, at, round, type Unanswered } from '../probe/http.ts';
import type { Session } from '../probe/session.ts';

const unreachable: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'tcp_refused',
  ECONNRESET: 'tcp_reset',
  ETIMEDOUT: 'tcp_timeout',
};

const fail = (cause: string, summary: string): Finding => ({
  status: 'fail',
  signal: 'terminal_public_route_missing',
  cause,
  blames: 'edge',
  summary,
});

/**
 * An edge that takes the request and never answers has the route: who is silent stands behind it.
 */
function silent(answer: Unanswered): Finding {
  const summary = `${answer.phase}: ${answer.code}`;
  if (answer.phase === 'http' && answer.code === 'ETIMEDOUT')
    return { status: 'warn', summary: `the route is there, nobody behind it answers (${summary})` };
  if (answer.phase === 'dns') return fail('dns_failed', summary);
  if (answer.phase === 'tls' && answer.code !== 'ECONNRESET' && answer.code !== 'ETIMEDOUT')
    return fail('tls_failed', summary);
  return fail(unreachable[answer.code] ?? 'tcp_timeout', summary);
}

function judge(answer: Answered): Finding {
  const { status, product } = answer;
  if (product === 'gateway' || (status === 200 && at(answer.json, 'part') === 'gateway')) {
    return {
      status: status === 200 ? 'pass' : 'warn',
      summary: `/healthz answers ${status} in ${round(answer.ms)} ms`,
    };
  }
  if ([502, 503, 504].includes(status))
    return { status: 'pass', summary: `the route is there; behind it: ${status}` };
  if (status >= 300 && status < 400)
    return fail('login_page', `/healthz redirects (${status}), it is not the gateway's`);
  if (status === 404 || status === 530)
    return fail('route_not_found', `/healthz answers ${status}, not from the gateway`);
  return fail('not_our_service', `/healthz answers ${status} from ${product ?? 'somebody else'}`);
}

export const terminalPublicRoute: HopDeclaration<Session> = {
  id: 'terminal_public_route',
  title: 'The public route leads to the terminal gateway (/healthz; the root says nothing)',
  section: 'browser-facing terminal route',
  vantage: 'operator',
  after: [],
  explainedBy: [],
  signals: ['terminal_public_route_missing'],
  deadlineMs: () => publicSeconds * 1000 + 500,
  skip: (request) => (text(request, 'terminal-base') === undefined ? 'no --terminal-base' : null),
  run: async (session) => {
    const answer = await session.healthz();
    const finding = answer.kind === 'none' ? silent(answer) : judge(answer);
    return {
      ...finding,
      target: `${text(session.request, 'terminal-base')}/healthz`,
      steps: answer.steps,
    };
  },
};
