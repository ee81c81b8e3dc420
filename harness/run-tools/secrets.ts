import { secretsIn } from '../base/secrets-in.ts';
import { type Profile, watchedDatabase } from '../records/profile.ts';

/**
 * The values that must never reach a run folder or a terminal: everything that the profile's
 * credential files hold.
 */
export const secretsOf = (profile: Profile): string[] =>
  secretsIn([
    ...Object.values(profile.credentials),
    watchedDatabase(profile)?.passwordFile,
    ...Object.values(profile.nodes).map(({ ssh }) => ssh?.keyFile),
  ]);
