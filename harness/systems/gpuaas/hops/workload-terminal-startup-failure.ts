import type { Finding, HopDeclaration } from '../../../preflight/types.ts';
import { claimSeconds, publicSeconds, sessionSeconds } from '../policies.ts';
import type { End } from '../probe/conversation.ts';
import { evidence, round } from '../probe/http.ts';
import { lacksForTerminal, type Session } from '../probe/session.ts';
import { charged, everySlowWay } from '../probe/ways.ts';

const known = new Set(['user_missing', 'shell_failed', 'no_space', 'pty_unavailable']);

const fail = (cause: string, summary: string, blames = 'user:allocation'): Finding => ({
  status: 'fail',
  signal: 'terminal_pty_failed',
  cause,
  blames,
  summary,
});

function judge(end: End): Finding {
  switch (end.kind) {
    case 'answered':
      return {
        status: 'pass',
        summary: `ready in ${round(end.readyMs)} ms, the shell answered in ${round(end.answeredMs)} ms`,
      };
    case 'silence':
      return end.ready
        ? fail('no_answer', 'ready was told, and the shell does not answer')
        : fail('pty_ready_timeout', 'the stream is there, and neither ready nor an error came');
    case 'closed':
      return fail(
        'shell_exited',
        `closed (${end.code} ${end.reason}) ${end.ready ? 'after ready, without an answer' : 'before ready'}`,
      );
    case 'error': {
      const { code, reason } = end.frame;
      if (code === 'pty_ready_timeout')
        return fail('pty_ready_timeout', 'the shell wrote nothing within the policy');
      const cause = reason !== null && known.has(reason) ? reason : 'shell_failed';
      return fail(
        cause,
        `${code}${reason ? `: ${reason}` : ''}`,
        cause === 'no_space' ? 'fs:/' : 'user:allocation',
      );
    }
  }
}

/** What the shell says goes over the stream, and may be said in time and arrive late. */
const isLate = ({ cause }: Finding): boolean =>
  cause === 'no_answer' || cause === 'pty_ready_timeout';

export const workloadTerminalStartupFailure: HopDeclaration<Session> = {
  id: 'workload_terminal_startup_failure',
  title: 'The shell of the allocation user answers a computed question',
  section: 'terminal startup on the workload',
  vantage: 'browser',
  after: ['gateway_node_stream'],
  // An agent that dies takes the shells of its sessions with it.
  explainedBy: ['gateway_node_stream', { hop: 'node_heartbeat', whenBlames: 'unit:agent' }],
  signals: ['terminal_pty_failed'],
  deadlineMs: (policies) =>
    (4 * publicSeconds + claimSeconds(policies) + 2 * sessionSeconds(policies) + 2) * 1000,
  skip: lacksForTerminal,
  run: async (session, earlier) => {
    const conversation = await session.terminal();
    if (
      conversation === null ||
      conversation.refused ||
      earlier('gateway_node_stream').status !== 'pass'
    )
      return { status: 'unknown', summary: 'without a stream there is no shell to ask' };
    const end = await conversation.end();
    const found = {
      ...judge(end),
      target: await session.sessionId(),
      evidence: [evidence('session_end', 'browser', end)],
    };
    return isLate(found) ? charged(session, found, ['term'], everySlowWay) : found;
  },
};
