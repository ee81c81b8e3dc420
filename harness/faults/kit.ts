// What the fault files share: how a script becomes an action. Scripts are fixed; what varies comes
// as "$1", "$2".
import { z } from 'zod';
import type { DockerAction, HttpAction, ShAction } from '../records/action.ts';
import type { NodeProfile, Profile } from '../records/profile.ts';

/** The parameter of every fault on a node. */
export const on = z
  .string()
  .default('node')
  .describe('the node: its name, or `node` for the node that the scenario is about');

export function sh(node: string, script: string, ...args: string[]): ShAction {
  return { kind: 'sh', node, argv: ['sh', '-c', script.trim(), 'hopdrill', ...args], okCodes: [0] };
}

export function exec(part: string, script: string, ...args: string[]): DockerAction {
  return {
    kind: 'docker',
    part,
    verb: 'exec',
    argv: ['sh', '-c', script.trim(), 'hopdrill', ...args],
    okCodes: [0],
  };
}

/** One verb of the engine on the container of a part, or of a node that is one. */
export const docker = (
  part: string,
  verb: DockerAction['verb'],
  more: Partial<DockerAction> = {},
): DockerAction => ({ kind: 'docker', okCodes: [0], part, verb, ...more });

export const http = (
  method: HttpAction['method'],
  path: string,
  more: Pick<HttpAction, 'endpoint'> & Partial<HttpAction>,
): HttpAction => ({ kind: 'http', okStatus: [200, 201, 202, 204], method, path, ...more });

export const withStdin = <A extends ShAction | DockerAction>(action: A, stdin: string): A => ({
  ...action,
  stdin,
});

export function nodeOf(profile: Profile, name: string): NodeProfile {
  const node = profile.nodes[name];
  if (node === undefined)
    throw new Error(`no node is called ${name} (${Object.keys(profile.nodes).join(', ')})`);
  return node;
}

/** The service that runs on the node for the platform. */
export function agentOf(profile: Profile, name: string): NonNullable<NodeProfile['agent']> {
  const { agent } = nodeOf(profile, name);
  if (agent === undefined) throw new Error(`the profile names no agent on ${name}`);
  return agent;
}

/** Copies that may hold secrets stay on the node, readable by root alone. */
export const savedDir = '/var/lib/hopdrill/{run}/saved/{step}';
/** The file that a transient unit has while it runs, for a fault's `marks`. */
export const transientUnit = (unit: string): string => `/run/systemd/transient/${unit}`;
/** Marks everything that we put somewhere. */
export const tag = 'hopdrill:{run}:{step}';
export const toxicName = 'hopdrill-{run}-{step}';

/** Prints what identifies a file: bytes, mode, owner. */
export const fileDigest = `# bytes, mode and owner
for f in "$@"; do if [ -e "$f" ]; then printf '%s %s\\n' "$(sha256sum < "$f" | cut -d' ' -f1)" "$(stat -c '%a %U:%G' "$f")"; else echo absent; fi; done`;

export const saveFiles = `# keep copies on the node
set -e; umask 077; d=$1; shift; mkdir -p "$d"; for f in "$@"; do cp -a "$f" "$d/"; done; sha256sum "$@"`;

/**
 * By rename, so that nobody reads half a file; then the agent, when it runs, starts anew with it.
 * An agent that was just writing the file itself, say a certificate that it had fetched, may have
 * written last: then it is put back once more.
 */
export const restoreFiles = `# put the saved copies back
set -e; d=$1 unit=$2; shift 2
saved() { echo "$d/$(basename "$1")"; }
put_back() {
  for f in "$@"; do [ -e "$(saved "$f")" ] || { echo "no saved copy of $f" >&2; exit 1; }; cp -a "$(saved "$f")" "$f.hopdrill"; mv -f "$f.hopdrill" "$f"; done
  [ -z "$unit" ] || systemctl try-restart "$unit"
}
sum() { sha256sum < "$1"; }
put_back "$@"
for f in "$@"; do [ "$(sum "$f")" = "$(sum "$(saved "$f")")" ] || { put_back "$@"; break; }; done`;

/** New content for an existing file: owner and mode stay. */
export const replaceFile = `# replace the file, restart the agent
set -e; f=$1 unit=$2; cp -a "$f" "$f.hopdrill"; cat > "$f.hopdrill"; mv -f "$f.hopdrill" "$f"; [ -z "$unit" ] || systemctl try-restart "$unit"`;
