import { existsSync, readFileSync } from 'node:fs';
import type { Profile } from '../records/profile.ts';

/**
 * The values that must never reach a run folder or a terminal: everything that the profile's
 * credential files hold.
 */
export function secretsOf(profile: Profile): string[] {
  const { operatorTokenFile, userTokenFile, edgeCookieFile } = profile.credentials;
  return secretsIn([
    operatorTokenFile,
    userTokenFile,
    edgeCookieFile,
    profile.database?.passwordFile,
    ...Object.values(profile.nodes).map((node) => node.sshKeyFile),
  ]);
}

export function secretsIn(files: readonly (string | undefined)[]): string[] {
  const texts = files.flatMap((file) =>
    file !== undefined && existsSync(file) ? [readFileSync(file, 'utf8').trim()] : [],
  );
  // A cookie file may hold `name=value`; the value alone is the secret.
  return texts.flatMap((text) =>
    /^[A-Za-z_]+=[^\s]+$/.test(text) ? [text, text.slice(text.indexOf('=') + 1)] : [text],
  );
}
