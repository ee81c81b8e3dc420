import { messageOf } from '../../base/message-of.ts';
import type { Formula, HookContext, PageView, UserView } from '../hooks.ts';
import { allocationModel } from './platform.ts';
import { beat, sessionSeconds, stale, terminalSeconds } from './policies.ts';
import { type TerminalTry, tryTerminal } from './terminal.ts';
import { placesOf } from './trace.ts';

/** The V3 state changes when the heartbeat is stale, which the sweep may notice one beat later. */
export const userViewWithin: Formula = (policies) => stale(policies) + 2 * beat(policies) + 5;

/** A terminal error waits for no heartbeat: the gateway's own deadlines, and the way. */
export const userAccessWithin: Formula = (policies) => sessionSeconds(policies) + 5;

/**
 * What the user of the allocation sees: the V3 state that the API gives, and what opening a
 * terminal comes to.
 */
export async function userView(
  context: HookContext,
  wants: { access: boolean; page: boolean },
): Promise<UserView> {
  const [allocation, terminal, page] = await Promise.all([
    allocationModel(context, 'user').catch(() => null),
    wants.access ? tryTerminal(context, terminalDeadline(context)) : null,
    wants.page ? readPage(context) : null,
  ]);
  const correlationId = terminal?.correlationId ?? null;
  const seen = page !== null && 'code' in page ? page : null;
  return {
    state: allocation?.user.state ?? null,
    access: terminal === null ? null : accessOf(terminal, seen),
    message:
      terminal === null
        ? (allocation?.user.message ?? null)
        : (terminal.message ?? seen?.message ?? null),
    correlationId: correlationId ?? seen?.correlationId ?? null,
    foundIn:
      correlationId === null ? (seen?.foundIn ?? []) : await placesOf(context, correlationId),
    afterMs: terminal?.afterMs ?? null,
    page,
  };
}

/** A browser says nothing of its own about a refused WebSocket: there the words are the page's. */
function accessOf({ end }: TerminalTry, page: PageView | null): UserView['access'] {
  if (end === 'ready') return 'ok';
  if (end === 'told') return 'error';
  return end === 'refused' && page?.state === 'error' ? 'error' : end;
}

/**
 * Every error frame comes within both of the gateway's deadlines; then there is a moment for the
 * way.
 */
const terminalDeadline = ({ profile }: HookContext): number =>
  1000 * terminalSeconds(profile.policies) + 3000;

async function readPage(context: HookContext): Promise<NonNullable<UserView['page']>> {
  const { own, endpoints } = context.profile;
  if (endpoints.browser === undefined || endpoints.console === undefined)
    return typeof own.pageNotSeen === 'string'
      ? { unseen: own.pageNotSeen, declared: true, final: true }
      : { unseen: 'the profile names no browser', declared: false, final: true };
  const { renderedTerminal } = await import('./page.ts');
  try {
    const shown = await renderedTerminal(context, terminalDeadline(context));
    return {
      ...shown,
      foundIn: shown.correlationId === '' ? [] : await placesOf(context, shown.correlationId),
    };
  } catch (error) {
    return { unseen: messageOf(error), declared: false, final: false };
  }
}
