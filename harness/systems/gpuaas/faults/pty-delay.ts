import { z } from 'zod';
import { defineFault } from '../../../faults/define.ts';
import { on, sh } from '../../../faults/kit.ts';
import { nodeNamed } from '../deployment.ts';

const file = '/etc/profile.d/hopdrill-{run}-{step}.sh';

/**
 * Prints nothing: the terminal counts a shell as ready at its first output. Only this user waits.
 */
const injectScript = `# a login script that waits
set -e; umask 022; printf '[ "$(id -un)" != %s ] || sleep %s\\n' "$2" "$3" > "$1.new"; mv "$1.new" "$1"`;

const activeScript = `# a login shell of the user does not get through
[ -e "$1" ] || { echo 'no script'; exit 1; }
setpriv --reuid "$2" --clear-groups --reset-env timeout 0.7 bash -l -c : ; rc=$?; echo "login shell ended with $rc"; [ $rc = 124 ] || exit 1`;

export const ptyDelay = defineFault({
  name: 'pty.delay',
  title: 'The shell on the node is not ready in time',
  why: 'A slow login script is no broken terminal path: stream and PTY are there, only the shell is late.',
  params: z.strictObject({
    on,
    seconds: z
      .number()
      .int()
      .min(1)
      .max(600)
      .optional()
      .describe('how long the login waits; twice the deadline of the policy when left out'),
    user: z.string().optional().describe('whose login; the user of the allocation when left out'),
  }),
  targetKind: 'node',
  targetParam: 'on',
  undoKind: 'node-file',
  marks: [file, `${file}.new`],
  place: ['on', 'user'],
  conflicts: {
    'disk.fill': 'the undo of pty.delay cannot write on a full disk',
    'user.remove': 'a missing user has no shell to delay',
  },
  plan: ({ seconds, user: wanted }, node, profile) => {
    const user = wanted ?? nodeNamed(profile, node).allocationUser;
    const deadline = profile.policies['terminal.pty_ready_timeout_seconds'] ?? 10;
    const wait = seconds ?? Math.ceil(deadline * 2 + 1);
    return {
      summary: `the shell of ${user} on ${node} waits ${wait} s before its first word`,
      cuts: [],
      snapshot: [{ name: 'user', do: sh(node, '# the user is there\ngetent passwd "$1"', user) }],
      inject: [sh(node, injectScript, file, user, String(wait))],
      undo: [sh(node, '# remove the script\nrm -f "$1" "$1.new"', file)],
      active: sh(node, activeScript, file, user),
      digest: sh(node, '# our script\n[ -e "$1" ] && echo there || echo absent', file),
      reaches: 'shells that are open stay as they are; the next login waits',
    };
  },
});
