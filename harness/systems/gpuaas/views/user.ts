import type { z } from 'zod';
import { messageOf } from '../../../base/message-of.ts';
import { coreViews, type PageRow, type UserRow, userParams } from '../../core-views.ts';
import type { HookContext } from '../../hooks.ts';
import { defineView } from '../../view.ts';
import { allocationModel } from '../platform.ts';
import { terminalSeconds } from '../policies.ts';
import { type TerminalTry, tryTerminal } from '../terminal.ts';
import { placesOf } from '../trace.ts';

/**
 * What the user of the allocation sees: the V3 state that the API gives, and what opening a
 * terminal comes to.
 */
export const user = defineView({
  title: 'what the user of the allocation sees: state, terminal, page',
  params: userParams,
  fields: coreViews.user,
  read: lookAsUser,
});

async function lookAsUser(
  context: HookContext,
  wants: z.infer<typeof userParams>,
): Promise<UserRow> {
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
    correlation_id: correlationId ?? seen?.correlation_id ?? null,
    found_in:
      correlationId === null ? (seen?.found_in ?? []) : await placesOf(context, correlationId),
    after_ms: terminal?.afterMs ?? null,
    page,
  };
}

/** A browser says nothing of its own about a refused WebSocket: there the words are the page's. */
function accessOf({ end }: TerminalTry, page: PageRow | null): UserRow['access'] {
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

async function readPage(context: HookContext): Promise<NonNullable<UserRow['page']>> {
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
      found_in: shown.correlation_id === '' ? [] : await placesOf(context, shown.correlation_id),
    };
  } catch (error) {
    return { unseen: messageOf(error), declared: false, final: false };
  }
}
