import { z } from 'zod';
import type { Action } from '../records/action.ts';
import type { Profile } from '../records/profile.ts';
import { defineFault } from './define.ts';
import { agentOf, docker, exec, savedDir, sh } from './kit.ts';

/** Lines of the key: what begins, after spaces, with the key and the separator. */
const mine =
  'function mine(l) { sub(/^[ \\t]+/, "", l); return index(l, ENVIRON["KEY"] ENVIRON["SEP"]) == 1 }';

/** Owner and mode stay. A file that is mounted by itself cannot be replaced, only written. */
const writeLine = `
write() {
  cp -a "$1" "$1.hopdrill"
  awk '${mine} mine($0) { if (!done && ENVIRON["LINE"] != "") print ENVIRON["LINE"]; done = 1; next } { print }
    END { if (!done && ENVIRON["LINE"] != "") print ENVIRON["LINE"] }' "$1" > "$1.hopdrill"
  mv -f "$1.hopdrill" "$1" 2>/dev/null || { cat "$1.hopdrill" > "$1"; rm -f "$1.hopdrill"; }
}
lines() { awk '${mine} mine($0)' "$1"; }
others() { awk '${mine} !mine($0)' "$1"; }`;

const saveScript = `# keep a copy where the file is
set -e; umask 077; mkdir -p "$1"; cp -a "$2" "$1/config"; sha256sum < "$2"`;

const setScript = `# set the key, or take it out
set -e; export KEY="$2" SEP="$3" LINE="$4"
${writeLine}
write "$1"`;

/** Somebody who changed other keys meanwhile keeps those. */
const putBackScript = `# put the key back
set -e; export KEY="$2" SEP="$3"; saved="$4/config"; [ -e "$saved" ] || { echo "no saved copy of $1" >&2; exit 1; }
${writeLine}
if [ "$(others "$1")" = "$(others "$saved")" ]; then
  cp -a "$saved" "$1.hopdrill"; mv -f "$1.hopdrill" "$1" 2>/dev/null || { cat "$1.hopdrill" > "$1"; rm -f "$1.hopdrill"; }
else
  LINE=$(lines "$saved" | head -n 1); export LINE; write "$1"
fi`;

const digestScript = `# lines of the key, mode and owner of the file
set -e; export KEY="$2" SEP="$3"
${writeLine}
lines "$1" | sha256sum | cut -d' ' -f1; stat -c '%a %U:%G' "$1"`;

const activeScript = `# whether the key stands as it was set
export KEY="$2" SEP="$3"
${writeLine}
[ "$(lines "$1")" = "$4" ] || { echo 'the key stands otherwise'; exit 1; }
echo 'the key stands as it was set'`;

const params = z.strictObject({
  on: z
    .string()
    .default('node')
    .describe('a node or a part: its name, or `node` for the node that the scenario is about'),
  file: z.string().regex(/^\//).describe('the file, from the root on'),
  key: z.string().min(1).describe('the key as it stands at the beginning of its line'),
  separator: z.string().min(1).default('=').describe('what stands between key and value'),
  value: z.string().optional().describe('the new value; left out: the key goes'),
  readers: z
    .enum(['restart', 'reload', 'nothing'])
    .default('restart')
    .describe('what the agent of the node, or the container of the part, has to do then'),
});

const reach = {
  restart: 'what reads the file starts anew',
  reload: 'what reads the file is asked to read it again',
  nothing: 'whoever reads the file next',
} as const;

export const configSet = defineFault({
  name: 'config.set',
  title: 'One key of a configuration file is changed',
  why: 'Configuration drifts one key at a time: an address, a proxy, a limit. What reads it breaks, and nothing else tells.',
  params,
  targetKind: 'node or part',
  targetParam: 'on',
  undoKind: 'config',
  place: ['on', 'file', 'key'],
  plan: ({ file, key, separator, value, readers }, target, profile) => {
    const isNode = profile.nodes[target] !== undefined;
    const run = (script: string, ...args: string[]): Action =>
      (isNode ? sh : exec)(target, script, file, key, separator, ...args);
    const line = value === undefined ? '' : `${key}${separator}${value}`;
    const felt = feelIt(profile, target, readers, isNode);
    return {
      summary: `${key} in ${file} on ${target} is ${value === undefined ? 'gone' : JSON.stringify(value)}`,
      cuts: [],
      snapshot: [{ name: 'saved', do: (isNode ? sh : exec)(target, saveScript, savedDir, file) }],
      inject: [run(setScript, line), ...felt],
      undo: [run(putBackScript, savedDir), ...felt],
      active: run(activeScript, line),
      digest: run(digestScript),
      supersedable: true,
      reaches: reach[readers],
    };
  },
});

function feelIt(
  profile: Profile,
  target: string,
  readers: z.infer<typeof params>['readers'],
  isNode: boolean,
): Action[] {
  if (readers === 'nothing') return [];
  if (isNode) {
    const verb = readers === 'restart' ? 'try-restart' : 'try-reload-or-restart';
    return [
      {
        kind: 'sh',
        node: target,
        argv: ['systemctl', verb, agentOf(profile, target).unit],
        okCodes: [0],
      },
    ];
  }
  return [
    readers === 'restart' ? docker(target, readers) : docker(target, 'kill', { signal: 'SIGHUP' }),
  ];
}
