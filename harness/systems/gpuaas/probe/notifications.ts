import { on, text } from '../flags.ts';
import type { Session } from './session.ts';

/**
 * Edge parity of seed 000: the notification socket goes the same authenticated way as the terminal.
 * Evidence only.
 */
export async function notificationSmoke(session: Session): Promise<string> {
  const token = await session.user();
  const base = text(session.request, 'api-base');
  if (!on(session.request, 'run-ws-smoke') || token === undefined || base === undefined)
    return 'not asked: no user token';
  const { openTerminal, UpgradeRefused } = await import('../../../drivers/websocket.ts');
  const cookie = await session.cookie();
  try {
    const socket = await openTerminal({
      url: `${base.replace(/^http/, 'ws')}/v1/notifications`,
      protocols: ['gpuaas.notifications.v1', `token.${token}`],
      headers: { 'x-correlation-id': session.run.correlationId },
      timeoutMs: 3000,
      ...(cookie !== undefined && { cookie }),
      ...(await session.publicTrust()),
    });
    await socket.close();
    return 'accepted';
  } catch (error) {
    return error instanceof UpgradeRefused
      ? `refused: ${error.status ?? error.code ?? error.message}`
      : `failed: ${String(error)}`;
  }
}
