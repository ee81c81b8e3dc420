import { existsSync, readFileSync } from 'node:fs';
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

export function secretsIn(files: readonly (string | undefined)[]): string[] {
  const texts = files.flatMap((file) =>
    file !== undefined && existsSync(file) ? [readFileSync(file, 'utf8').trim()] : [],
  );
  // A cookie file may hold `name=value`; the value alone is the secret.
  return texts.flatMap((text) =>
    /^[A-Za-z_]+=[^\s]+$/.test(text) ? [text, text.slice(text.indexOf('=') + 1)] : [text],
  );
}
