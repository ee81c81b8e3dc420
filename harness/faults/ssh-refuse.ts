import { z } from 'zod';
import { defineFault } from './define.ts';
import { on, sh, tag } from './kit.ts';
import { removeRules, rulesDigest } from './rules.ts';

const active = `# rule there, and a new connection is not answered with a banner
iptables -w 5 -S INPUT | grep -qF -- "$1" || { echo 'no rule of ours'; exit 1; }
a=$(hostname -I | cut -d' ' -f1)
echo "new connections to $a:22 are refused"`;

/** Only new connections: what is open (our own among them) stays, as with a dead sshd. */
const block = `# refuse new connections to sshd
case $2 in drop) j='-j DROP';; *) j='-j REJECT --reject-with tcp-reset';; esac
iptables -w 5 -I INPUT -p tcp --syn --dport 22 -m comment --comment "$1" $j`;

export const sshRefuse = defineFault({
  name: 'ssh.refuse',
  title: 'Operators cannot log in to the node',
  why: 'Operator access and the agent are different ways: one may fail while the other works, and users see nothing of it.',
  params: z.strictObject({
    on,
    mode: z
      .enum(['reject', 'drop'])
      .default('reject')
      .describe('reject: a TCP reset; drop: silence'),
  }),
  targetKind: 'node',
  targetParam: 'on',
  undoKind: 'node-rule',
  plan: ({ mode }, node) => ({
    summary: `${node} refuses new SSH connections (${mode})`,
    cuts: [`ssh:${node}`],
    snapshot: [],
    inject: [sh(node, block, tag, mode)],
    undo: [sh(node, removeRules, tag)],
    active: sh(node, active, tag),
    digest: sh(node, rulesDigest, tag),
  }),
});
