import type { Ask } from '../define.ts';
import { budgets } from './budgets.ts';
import { causes, resources } from './causes.ts';
import { attach, conclude, leaveNote } from './conclude.ts';
import { nodeNamed } from './deployment.ts';
import { checkFlags, flags, text } from './flags.ts';
import { hops } from './hops/index.ts';
import { names, words } from './names.ts';
import { openSession, type Session } from './probe/session.ts';
import { argvFromProfile, optionalHops } from './profile-argv.ts';
import { secretForms } from './secret-forms.ts';
import { signals } from './signals.ts';

export const ask: Ask<Session> = {
  hops,
  signals,
  causes,
  resources,
  names,
  words,
  budgets,
  secretForms,
  flags,
  examples: [
    '--profile ./profile.yaml --node-id node-2',
    '--api-base https://api.example.test --node-host 192.0.2.10 --allocation-id alloc-1',
  ],
  argv: argvFromProfile,
  onNode: (profile, node) => [`allocation:${nodeNamed(profile, node).allocation}`],
  optionalHops,
  checkFlags,
  environment: (request) => ({
    profile: text(request, 'environment') ?? null,
    api_url: text(request, 'api-base') ?? null,
    terminal_url: text(request, 'terminal-base') ?? null,
  }),
  open: openSession,
  policies: (session) => session.policies().catch(() => ({})),
  conclude: async (session, outcome) => {
    await attach(session).catch(() => {});
    return conclude(session, outcome);
  },
  healthy: leaveNote,
};
