import { resolve } from 'node:path';
import type { Profile } from '../records/profile.ts';

/** Paths in a profile are relative to its file; a run has no such file at hand. */
export function absoluteProfile(profile: Profile, dir: string): Profile {
  const from = (path: string): string => resolve(dir, path);
  const each = <T extends object>(paths: T): T =>
    Object.fromEntries(
      Object.entries(paths).map(([key, path]) => [
        key,
        typeof path === 'string' ? from(path) : path,
      ]),
    ) as T;
  const nodes = Object.fromEntries(
    Object.entries(profile.nodes).map(([name, node]) => [
      name,
      { ...node, ...each({ knownHostsFile: node.knownHostsFile, sshKeyFile: node.sshKeyFile }) },
    ]),
  );
  const { database, guard, public: open } = profile;
  return {
    ...profile,
    credentials: each(profile.credentials),
    nodes,
    ...(open?.caFile !== undefined && { public: { ...open, caFile: from(open.caFile) } }),
    ...(guard !== undefined && {
      guard: guard.map((one) => ({ ...one, ...(one.caFile && { caFile: from(one.caFile) }) })),
    }),
    ...(database !== undefined && {
      database: { ...database, passwordFile: from(database.passwordFile) },
    }),
  };
}
