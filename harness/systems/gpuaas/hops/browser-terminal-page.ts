import type { SeenSocket } from '../../../drivers/browser.ts';
import type { Finding, HopDeclaration } from '../../../preflight/types.ts';
import { text } from '../flags.ts';
import { sessionSeconds } from '../policies.ts';
import type { ConsolePage, ConsoleState } from '../probe/console-page.ts';
import { type Answered, at, evidence, granted, str } from '../probe/http.ts';
import type { Session } from '../probe/session.ts';

const settled = new Set(['error', 'ready', 'failed', 'closed']);

/** The page, or why it could not be opened. */
async function openPage(
  session: Session,
  minted: Answered,
  userToken: string,
  edgeCookie: string,
): Promise<ConsolePage | string> {
  const { openConsole } = await import('../probe/console-page.ts');
  return openConsole({
    cdpUrl: text(session.request, 'browser') ?? '',
    consoleBase: text(session.request, 'console-base') ?? '',
    allocation: text(session.request, 'allocation-id') ?? '',
    userToken,
    edgeCookie,
    minted: {
      token: str(at(minted.json, 'token')) ?? '',
      correlationId: session.run.correlationId,
    },
  }).catch((error: unknown) => String(error));
}

/** A page that settles passes; one that the gateway answered and that stays as it was is stuck. */
function pageFinding(
  sockets: readonly SeenSocket[],
  settledInTime: boolean,
  now: ConsoleState,
  target: string | null,
): Finding {
  const summaries = sockets.map(({ status, texts, closed }) => ({
    status,
    frames: texts.length,
    closed,
  }));
  const facts = {
    target,
    evidence: [evidence('page', 'browser', now), evidence('sockets', 'browser', summaries)],
  };
  if (settledInTime)
    return {
      ...facts,
      status: 'pass',
      summary: `the page shows ${now.state}: ${now.message || now.text}`,
    };
  const gatewaySpoke = sockets.some(
    (socket) => socket.closed || socket.texts.length > 0 || (socket.status ?? 101) !== 101,
  );
  if (!gatewaySpoke)
    return {
      ...facts,
      status: 'unknown',
      summary: 'the page opened no socket, or was told nothing',
    };
  return {
    ...facts,
    status: 'fail',
    signal: 'terminal_ui_connecting_stuck',
    cause: 'frame_not_rendered',
    blames: 'page:console',
    summary: `the gateway told, the page still shows "${now.text}"`,
  };
}

/**
 * The page is given a token that was used already: the gateway's refusal must become words that a
 * person can read.
 */
export const browserTerminalPage: HopDeclaration<Session> = {
  id: 'browser_terminal_page',
  optional: true,
  title: 'The console page renders what the gateway says (only with --browser)',
  section: 'browser receives ready or an explicit error',
  vantage: 'browser',
  after: ['browser_terminal_ws'],
  explainedBy: ['browser_terminal_ws'],
  signals: ['terminal_ui_connecting_stuck'],
  deadlineMs: (policies) => (2 * sessionSeconds(policies) + 20) * 1000,
  skip: (request) =>
    text(request, 'browser') === undefined
      ? 'no --browser'
      : text(request, 'allocation-id') === undefined
        ? 'no --allocation-id'
        : null,
  run: async (session, earlier) => {
    const minted = await session.mint();
    const conversation = await session.terminal();
    const [userToken, edgeCookie, policies] = await Promise.all([
      session.user(),
      session.cookie(),
      session.policies(),
    ]);
    if (
      !granted(minted) ||
      conversation === null ||
      userToken === undefined ||
      edgeCookie === undefined
    )
      return { status: 'unknown', summary: 'no used token to show, or no edge cookie' };
    if (earlier('browser_terminal_ws').status !== 'pass')
      return {
        status: 'unknown',
        summary: 'the gateway did not take the token, so it is not a used one',
      };
    const page = await openPage(session, minted, userToken, edgeCookie);
    if (typeof page === 'string')
      return { status: 'unknown', summary: `the page could not be opened: ${page.slice(0, 200)}` };
    session.run.defer(() => page.close());
    const shown = await page.waitFor(
      (state) => settled.has(state.state),
      (sessionSeconds(policies) + 3) * 1000,
    );
    const now = await page.state();
    const target = text(session.request, 'console-base') ?? null;
    return pageFinding(page.sockets, shown !== null, now, target);
  },
};
