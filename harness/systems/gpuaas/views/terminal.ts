import { z } from 'zod';
import type { HookContext } from '../../hooks.ts';
import { defineView } from '../../view.ts';
import { terminalSeconds } from '../policies.ts';
import { type TerminalTry, tryTerminal } from '../terminal.ts';

const fields = z.object({
  end: z.enum(['ready', 'told', 'refused', 'silent']),
  answered: z.boolean().describe('the shell computed an answer'),
  ready_without_shell: z.boolean(),
  message: z.string().nullable(),
  correlation_id: z.string().nullable(),
  detail: z.string(),
  after_ms: z.number(),
});

export function terminalRow({
  correlationId,
  afterMs,
  ...tried
}: TerminalTry): z.infer<typeof fields> {
  return {
    ...tried,
    ready_without_shell: tried.end === 'ready' && !tried.answered,
    correlation_id: correlationId,
    after_ms: afterMs,
  };
}

/** Both deadlines of the gateway, and a moment for the way. */
const deadlineMs = ({ profile }: HookContext): number =>
  1000 * terminalSeconds(profile.policies) + 1500;

export const terminal = defineView({
  title: 'what opening a terminal as its user comes to',
  fields,
  within: (policies) => terminalSeconds(policies) + 5,
  read: async (context) => terminalRow(await tryTerminal(context, deadlineMs(context))),
});
