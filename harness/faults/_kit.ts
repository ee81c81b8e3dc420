// What the fault files share: their form, and how a script becomes an action. Scripts are fixed;
// what varies comes as "$1", "$2".
import { z } from 'zod';
import type { DockerAction, ShAction } from '../records/action.ts';
import { type FaultPlan, faultPlan, type UndoKind } from '../records/fault.ts';
import type { NodeProfile, Profile } from '../records/profile.ts';

export type TargetKind = 'node' | 'part' | 'link';

interface Declared<S extends z.ZodObject> {
  readonly name: string;
  readonly title: string;
  readonly why: string;
  /** Every field carries a description: `explain` and the schema print it. */
  readonly params: S;
  readonly targetKind: TargetKind;
  /** The parameter that names the target. */
  readonly targetParam: string;
  readonly undoKind: UndoKind;
  /**
   * Files of its own that it leaves on its target, with `{run}` and `{step}` in the name, so that
   * they are found and removed when nobody has the ledger.
   */
  readonly marks?: readonly string[];
  /** Procedures of the platform that put such a thing right, for people; none = only our undo. */
  readonly repairs: readonly string[];
  plan(
    params: z.infer<S>,
    target: string,
    profile: Profile,
  ): Omit<z.input<typeof faultPlan>, 'fault' | 'params' | 'target' | 'kind'> & { kind?: UndoKind };
}

export interface FaultDefinition extends Omit<Declared<z.ZodObject>, 'plan'> {
  /**
   * Pure: looks at nothing, says everything that will be done. `target` is a name of the profile:
   * `node-1`, `edge`, `node-1.node-api`.
   */
  plan(params: unknown, target: string, profile: Profile): FaultPlan;
}

export function defineFault<S extends z.ZodObject>(declared: Declared<S>): FaultDefinition {
  return {
    ...declared,
    plan: (raw, target, profile) => {
      const params = declared.params.parse(raw);
      const { name: fault, targetKind, undoKind: kind } = declared;
      return faultPlan.parse({
        fault,
        params,
        target: `${targetKind}:${target}`,
        kind,
        ...declared.plan(params, target, profile),
      });
    },
  };
}

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

export const restartAgent = `# restart the agent, so that it feels it
systemctl try-restart "$1"`;

/** Prints the value of one variable of the running agent, else of its env file. Sets `value`. */
export const agentVariable = `
agent_variable() {
  pid=$(systemctl show -p MainPID --value "$1"); value=
  [ "$pid" = 0 ] || value=$(tr '\\0' '\\n' < "/proc/$pid/environ" 2>/dev/null | sed -n "s/^$2=//p" | tail -n 1)
  [ -n "$value" ] || for file in $(systemctl show -p EnvironmentFiles --value "$1" | sed 's/ (.*//'); do value=$(sed -n "s/^$2=//p" "$file" | tail -n 1); done
}
split_url() { rest=\${1#*://}; rest=\${rest%%/*}; host=\${rest%%:*}; port=443; case $rest in *:*) port=\${rest##*:};; esac; }
`;

/** The names that a scenario uses for what the agent connects to. */
export const agentUrls = {
  'node-api': 'GPUAAS_API_URL',
  term: 'GPUAAS_TERMINAL_API_URL',
  recovery: 'GPUAAS_RECOVERY_API_URL',
} as const;
