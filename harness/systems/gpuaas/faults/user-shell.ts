import { z } from 'zod';
import { defineFault } from '../../../faults/define.ts';
import { on, sh } from '../../../faults/kit.ts';
import { nodeNamed } from '../deployment.ts';

const hanging = '/usr/local/bin/hopdrill-{run}-{step}-shell';

const injectScript = `# set the shell
set -e; if [ "$2" = "$3" ]; then printf '#!/bin/sh\\nexec sleep 3600\\n' > "$3"; chmod 755 "$3"; fi
usermod -s "$2" "$1"`;

const backScript = `# set the shell back, unless a repair did
now=$(getent passwd "$1" | cut -d: -f7)
if [ "$now" = "$3" ]; then usermod -s "$2" "$1" || exit 1; fi
pkill -KILL -u "$1" -f "$4"; rm -f "$4"`;

export const userShell = defineFault({
  name: 'user.shell',
  title: 'The shell of the user does not work',
  why: 'A PTY that opens and a shell that ends at once, or never speaks, are different from a broken stream.',
  params: z.strictObject({
    on,
    shell: z
      .enum(['/bin/false', '/usr/sbin/nologin', 'hanging'])
      .describe('/bin/false ends at once; hanging never says a word'),
    user: z.string().optional().describe('whose; the user of the allocation when left out'),
  }),
  targetKind: 'node',
  targetParam: 'on',
  undoKind: 'user',
  marks: [hanging],
  place: ['on', 'user'],
  plan: ({ shell, user: wanted }, node, profile) => {
    const user = wanted ?? nodeNamed(profile, node).allocationUser;
    const path = shell === 'hanging' ? hanging : shell;
    return {
      summary: `the shell of ${user} on ${node} is ${shell}`,
      cuts: [],
      snapshot: [
        {
          name: 'shell',
          do: sh(
            node,
            '# the shell now\nset -e; e=$(getent passwd "$1"); echo "$e" | cut -d: -f7',
            user,
          ),
        },
      ],
      inject: [sh(node, injectScript, user, path, hanging)],
      undo: [
        sh(node, backScript, user, '{snapshot:shell}', path, hanging),
        sh(node, '# nothing of ours stays\n[ ! -e "$1" ]', hanging),
      ],
      active: sh(
        node,
        '# the shell now\nnow=$(getent passwd "$1" | cut -d: -f7); echo "$now"; [ "$now" = "$2" ] || exit 1',
        user,
        path,
      ),
      digest: sh(
        node,
        '# the shell, and no file of ours\ngetent passwd "$1" | cut -d: -f7; [ ! -e "$2" ] || echo "there is $2"',
        user,
        hanging,
      ),
      reaches: 'shells that are open stay as they are; the next login gets it',
      supersedable: true,
    };
  },
});
