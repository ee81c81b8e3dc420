import type { PreflightSystem } from '../../preflight/types.ts';
import { causes, resources } from './causes.ts';
import { attach, conclude, leaveNote } from './conclude.ts';
import { checkFlags, flags, text } from './flags.ts';
import { hops } from './hops/index.ts';
import { openSession, type Session } from './probe/session.ts';
import { argvFromProfile } from './profile-argv.ts';
import { signals } from './signals.ts';

/**
 * What a preflight needs of the system, and nothing else: the command must not load what only runs
 * need.
 */
export const gpuaasPreflight: PreflightSystem<Session> & {
  argvFromProfile: typeof argvFromProfile;
} = {
  name: 'gpuaas',
  hops,
  signals,
  causes,
  resources,
  flags,
  argvFromProfile,
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
