import { measure } from '../../../base/spans.ts';
import type { PageRow } from '../../core-views.ts';
import type { HookContext } from '../../hooks.ts';
import { endpointOf } from '../deployment.ts';
import { cookieOf, nodeOf, tokenOf } from '../platform.ts';
import { openConsole } from '../probe/console-page.ts';

/** What the user's terminal page shows in a real browser; the picture goes into the run folder. */
export async function renderedTerminal(
  context: HookContext,
  deadlineMs: number,
): Promise<Omit<PageRow, 'found_in'>> {
  const { profile, signal } = context;
  const page = await openConsole({
    cdpUrl: endpointOf(profile, 'browser'),
    consoleBase: endpointOf(profile, 'console'),
    allocation: nodeOf(context).node.allocation,
    userToken: tokenOf(profile, 'user'),
    signal,
    edgeCookie: cookieOf(profile),
  });
  try {
    return await measure('driver', 'console shows', async () => {
      await page.waitFor(({ state }) => state === 'error' || state === 'ready', deadlineMs);
      context.attach?.('terminal-page.png', await page.screenshot());
      const { state, code, message, next, correlationId } = await page.state();
      return { state, code, message, next, correlation_id: correlationId };
    });
  } finally {
    await page.close();
  }
}
