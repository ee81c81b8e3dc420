import type { Finding, HopDeclaration } from '../../../preflight/types.ts';
import { on, text } from '../flags.ts';
import { publicSeconds, sessionSeconds } from '../policies.ts';
import { type Conversation, type Refusal, subprotocol } from '../probe/conversation.ts';
import { evidence, granted, round } from '../probe/http.ts';
import { notificationSmoke } from '../probe/notifications.ts';
import { hasUser, type Session } from '../probe/session.ts';

const fail = (cause: string, blames: string, summary: string): Finding => ({
  status: 'fail',
  signal: 'terminal_gateway_upgrade_failed',
  cause,
  blames,
  summary,
});

/** The gateway's own words; each is a typed refusal, never silence. */
const typed: Readonly<Record<string, readonly [string, string]>> = {
  session_binding_unavailable: ['session_binding_unavailable', 'service:session-store'],
  subprotocol_missing: ['subprotocol_lost', 'edge'],
  terminal_token_missing: ['subprotocol_lost', 'edge'],
  upgrade_required: ['upgrade_headers_stripped', 'edge'],
  terminal_token_invalid: ['token_rejected', 'service:gateway'],
  terminal_token_expired: ['token_rejected', 'service:gateway'],
  terminal_token_used: ['token_used', 'service:gateway'],
};

function refused(refusal: Refusal, hasCookie: boolean, healthy: boolean): Finding {
  const { status, errorCode, product } = refusal;
  const what = `${status ?? refusal.code ?? refusal.message}${errorCode ? ` ${errorCode}` : ''}`;
  if (errorCode !== null && typed[errorCode])
    return fail(typed[errorCode][0], typed[errorCode][1], `upgrade refused: ${what}`);
  if (
    status !== null &&
    (status === 302 || status === 401 || status === 303) &&
    product !== 'gateway'
  ) {
    if (!hasCookie)
      return {
        status: 'unknown',
        cause: 'edge_auth_required',
        summary: `the edge wants a login (${what}) and no cookie was given`,
        inconclusive: 'edge_auth_required: without an edge cookie this is no proof',
      };
    return fail('edge_denied', 'edge', `the edge does not take the cookie: ${what}`);
  }
  if (status !== null && [502, 503, 504].includes(status))
    return fail('gateway_down', 'service:gateway', `the edge finds no gateway: ${what}`);
  if (status === 426) return fail('upgrade_headers_stripped', 'edge', `upgrade refused: ${what}`);
  // A gateway that answers its health path and hangs here is alive and silent; one that does not
  // answer there is gone.
  if (status === null && refusal.code === 'ETIMEDOUT')
    return fail(
      healthy ? 'silent_hang' : 'gateway_down',
      'service:gateway',
      'neither accepted nor refused',
    );
  if (status === null && /subprotocol/i.test(refusal.message))
    return fail('subprotocol_lost', 'edge', refusal.message);
  if (status === null)
    return fail(
      healthy ? 'upgrade_reset' : 'gateway_down',
      'service:gateway',
      `upgrade broken off: ${what}`,
    );
  return fail(
    'upgrade_refused',
    product === 'gateway' ? 'service:gateway' : 'edge',
    `upgrade refused: ${what}`,
  );
}

async function accepted(conversation: Conversation): Promise<Finding> {
  if (conversation.protocol !== subprotocol)
    return fail('subprotocol_lost', 'edge', `101 with subprotocol "${conversation.protocol}"`);
  // Accepted and then nothing at all is the hang that seed 000 forbids.
  if (await conversation.firstFrame())
    return {
      status: 'pass',
      summary: `101 in ${round(conversation.upgradeMs)} ms, first frame came`,
    };
  const end = await conversation.end();
  if (end.kind === 'closed')
    return fail(
      'closed_without_frame',
      'service:gateway',
      `accepted, then closed (${end.code} ${end.reason}) without a frame`,
    );
  return fail('silent_hang', 'service:gateway', 'accepted, then not a single frame');
}

/** A made-up token: what counts is that the gateway answers it on purpose. */
function smoke(conversation: Conversation, hasCookie: boolean): Finding {
  const { refused: refusal } = conversation;
  if (
    refusal?.product === 'gateway' &&
    refusal.errorCode !== null &&
    /token/.test(refusal.errorCode) &&
    refusal.errorCode !== 'terminal_token_missing'
  )
    return {
      status: 'pass',
      summary: `a made-up token is refused on purpose: ${refusal.status} ${refusal.errorCode}`,
    };
  if (refusal) return refused(refusal, hasCookie, true);
  return fail('token_rejected', 'service:gateway', 'a made-up token was accepted');
}

export const browserTerminalWs: HopDeclaration<Session> = {
  id: 'browser_terminal_ws',
  title: 'The gateway accepts or refuses the browser WebSocket on purpose',
  section: 'browser-facing terminal WebSocket route classification',
  vantage: 'operator',
  after: ['terminal_token_mint', 'terminal_public_route'],
  explainedBy: ['terminal_token_mint', 'terminal_public_route'],
  signals: ['terminal_gateway_upgrade_failed'],
  deadlineMs: (policies) => (2 * publicSeconds + sessionSeconds(policies) + 1) * 1000,
  skip: (request) => {
    if (text(request, 'terminal-base') === undefined) return 'no --terminal-base';
    if (on(request, 'run-ws-smoke')) return null;
    return text(request, 'allocation-id') === undefined
      ? 'no --allocation-id'
      : hasUser(request)
        ? null
        : 'no user token';
  },
  run: async (session, earlier) => {
    const withToken = text(session.request, 'allocation-id') !== undefined;
    if (withToken && !granted(await session.mint()))
      return { status: 'unknown', summary: 'no token to show' };
    const conversation = await session.terminal();
    if (conversation === null) return { status: 'unknown', summary: 'no token to show' };
    const hasCookie = (await session.cookie()) !== undefined;
    const healthy = earlier('terminal_public_route').status === 'pass';
    const finding = !withToken
      ? smoke(conversation, hasCookie)
      : conversation.refused
        ? refused(conversation.refused, hasCookie, healthy)
        : await accepted(conversation);
    const seen = on(session.request, 'run-ws-smoke')
      ? [evidence('notification_socket', 'operator', await notificationSmoke(session))]
      : [];
    return {
      ...finding,
      target: `${text(session.request, 'terminal-base')}/ws/terminal`,
      steps: [
        {
          phase: 'ws',
          start_ms: 0,
          duration_ms: round(conversation.upgradeMs),
          code: conversation.refused
            ? String(conversation.refused.status ?? conversation.refused.code)
            : '101',
          raw: null,
        },
      ],
      evidence: [evidence('states', 'browser', conversation.states()), ...seen],
    };
  },
};
