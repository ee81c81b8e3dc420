import type { Finding, HopDeclaration } from '../../../preflight/types.ts';
import { text } from '../flags.ts';
import { publicSeconds, visitSeconds } from '../policies.ts';
import {
  type Answer,
  at,
  errorCode,
  evidence,
  fromApi,
  granted,
  round,
  str,
  tell,
} from '../probe/http.ts';
import { hasUser, type Session } from '../probe/session.ts';

const known = new Set([
  'unauthenticated',
  'forbidden',
  'allocation_not_found',
  'allocation_not_active',
  'database_unavailable',
]);

/** Not a type guard: what did not speak may still be an answer, of somebody else. */
const spoke = (answer: Answer): boolean => fromApi(answer);

const blamed = (cause: string): string =>
  cause.startsWith('allocation')
    ? 'allocation'
    : cause === 'database_unavailable'
      ? 'service:api'
      : 'user:session';

export const terminalTokenMint: HopDeclaration<Session> = {
  id: 'terminal_token_mint',
  title: 'The API mints a terminal token for the allocation',
  section: 'terminal token mint',
  vantage: 'operator',
  // Whether nodes reach the API decides if silence of the public way says anything; read only when
  // there is silence.
  after: [],
  explainedBy: ['allocation_binding'],
  signals: ['terminal_token_mint_failed'],
  deadlineMs: (policies) => (publicSeconds + visitSeconds(policies)) * 1000,
  skip: (request) =>
    text(request, 'allocation-id') === undefined
      ? 'no --allocation-id'
      : hasUser(request)
        ? null
        : 'no user token',
  run: async (session) => {
    const answer = await session.mint();
    const status = answer.kind === 'answer' ? answer.status : 0;
    const facts = { target: text(session.request, 'api-base') ?? null, steps: answer.steps };
    const fail = (cause: string, blames: string, summary: string): Finding => ({
      ...facts,
      status: 'fail',
      signal: 'terminal_token_mint_failed',
      cause,
      blames,
      summary,
    });
    if (granted(answer)) {
      const id = str(at(answer.json, 'session_id'));
      return {
        ...facts,
        status: 'pass',
        summary: `minted in ${round(answer.ms)} ms, session ${id}`,
        evidence: [
          evidence('session', 'api', {
            session_id: id,
            correlation_id: at(answer.json, 'correlation_id'),
          }),
        ],
      };
    }
    if (!spoke(answer)) {
      if (!(await nodesReachApi(session)))
        return {
          ...facts,
          status: 'unknown',
          summary: `the public API did not answer: ${tell(answer)}`,
        };
      return fail(
        'public_api_unreachable',
        'edge',
        `the public way to the API is broken (${tell(answer)}) while nodes reach it`,
      );
    }
    const code = errorCode(answer) ?? 'error_envelope';
    return fail(
      known.has(code) ? code : 'error_envelope',
      status >= 500 ? 'service:api' : blamed(code),
      `refused: ${tell(answer)}`,
    );
  },
};

/** The same question as hop 4, from the same visit. */
async function nodesReachApi(session: Session): Promise<boolean> {
  if (text(session.request, 'node-host') === undefined) return false;
  const { nodeRuntimeApiReachability } = await import('./node-runtime-api-reachability.ts');
  const finding = await nodeRuntimeApiReachability.run(session, () => ({
    status: 'skipped',
    summary: '',
  }));
  return finding.status === 'pass';
}
