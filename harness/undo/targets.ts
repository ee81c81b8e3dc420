import { existsSync } from 'node:fs';
import { isAbsolute, join, resolve } from 'node:path';
import { type Targets, targets } from '../records/ledger.ts';
import { type Profile, watchedDatabase } from '../records/profile.ts';

/**
 * A profile's paths are relative to its file; an undo in another process has no such file at hand.
 */
export function targetsOf(
  profile: Profile,
  options: { profileDir?: string; stateDir: string },
): Targets {
  const base = options.profileDir ?? join(options.stateDir, 'stacks', profile.stack);
  const absolute = (path: string): string =>
    isAbsolute(path) ? path : existsSync(join(base, path)) ? join(base, path) : resolve(path);
  const nodes = Object.entries(profile.nodes).map(([name, { ssh, lifeline }]) => {
    const bySsh = ssh && {
      sshHost: ssh.host,
      sshPort: ssh.port,
      sshUser: ssh.user,
      knownHostsFile: absolute(ssh.knownHostsFile),
      sshKeyFile: absolute(ssh.keyFile),
    };
    return [name, { ...bySsh, lifeline }];
  });
  const { stack, parts, links, endpoints, connect } = profile;
  const credentials = Object.entries(profile.credentials).map(([name, file]) => [
    name,
    absolute(file),
  ]);
  const database = watchedDatabase(profile);
  return targets.parse({
    stack,
    nodes: Object.fromEntries(nodes),
    parts,
    endpoints,
    credentials: Object.fromEntries(credentials),
    connect: { ...connect, caFile: connect.caFile && absolute(connect.caFile) },
    toxiproxy: links && { url: links.toxiproxy, part: links.part },
    database: database && { ...database, passwordFile: absolute(database.passwordFile) },
  });
}
