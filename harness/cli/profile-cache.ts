// Profiles that were read before. Parsing YAML and checking it against the schema costs more than
// loading all probes, so the result is kept beside Node's compiled modules, under the digest of
// everything that it was made from.
import { createHash } from 'node:crypto';
import { globSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { Profile } from '../records/profile.ts';

/** Their bytes are part of the key: another schema may refuse what this one took. */
const schemaFiles = (): URL[] => [
  new URL('../records/profile.ts', import.meta.url),
  ...globSync('../systems/*/deployment-schema.ts', { cwd: import.meta.dirname }).map(
    (file) => new URL(file, import.meta.url),
  ),
];

/**
 * Null where Node keeps nothing either. The path belongs to the key, because a profile's own paths
 * are relative to its file.
 */
function placeOf(file: string): string | null {
  const folder = process.env.NODE_COMPILE_CACHE;
  if (!folder) return null;
  const digest = createHash('sha256');
  const schemas = schemaFiles().map((schema) => readFileSync(schema));
  for (const part of [...schemas, resolve(file), readFileSync(file)])
    digest.update(part).update('\0');
  return join(folder, 'profiles', `${digest.digest('hex')}.json`);
}

/** What this file says, if it was found to be valid as it is now; its paths are absolute. */
export function knownProfile(file: string): Profile | null {
  try {
    const place = placeOf(file);
    return place === null ? null : (JSON.parse(readFileSync(place, 'utf8')) as Profile);
  } catch {
    return null;
  }
}

export function rememberProfile(file: string, profile: Profile): void {
  try {
    const place = placeOf(file);
    if (place === null) return;
    mkdirSync(join(place, '..'), { recursive: true, mode: 0o700 });
    // By rename, so that another command never reads half a file.
    writeFileSync(`${place}.${process.pid}`, JSON.stringify(profile), { mode: 0o600 });
    renameSync(`${place}.${process.pid}`, place);
  } catch {
    // A folder that cannot be written makes the next start slower, and nothing else.
  }
}
