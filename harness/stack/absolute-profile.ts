import { resolve } from 'node:path';
import { type Profile, watchedDatabase } from '../records/profile.ts';

/** Paths in a profile are relative to its file; a run has no such file at hand. */
export function absoluteProfile(profile: Profile, dir: string): Profile {
  const from = (path: string): string => resolve(dir, path);
  const withCa = <T extends { caFile?: string | undefined }>(one: T): T =>
    one.caFile === undefined ? one : { ...one, caFile: from(one.caFile) };
  const { credentials, nodes, guard } = profile;
  const database = watchedDatabase(profile);
  return {
    ...profile,
    credentials: mapValues(credentials, from),
    connect: withCa(profile.connect),
    nodes: mapValues(nodes, ({ ssh, ...node }) =>
      ssh === undefined
        ? node
        : {
            ...node,
            ssh: {
              ...ssh,
              keyFile: from(ssh.keyFile),
              knownHostsFile: from(ssh.knownHostsFile),
            },
          },
    ),
    ...(guard !== undefined && { guard: guard.map(withCa) }),
    ...(database !== undefined && {
      database: { ...database, passwordFile: from(database.passwordFile) },
    }),
  };
}

const mapValues = <A, B>(record: Readonly<Record<string, A>>, change: (value: A) => B) =>
  Object.fromEntries(Object.entries(record).map(([key, value]) => [key, change(value)]));
