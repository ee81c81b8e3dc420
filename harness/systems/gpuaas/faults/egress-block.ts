import { z } from 'zod';
import { defineFault } from '../../../faults/define.ts';
import { on, sh, tag, withStdin } from '../../../faults/kit.ts';
import { removeRules, rulesDigest } from '../../../faults/rules.ts';
import { nodeNamed } from '../deployment.ts';
import { agentUrls, agentVariable } from './agent.ts';

/**
 * Address and port of what the agent really connects to: the environment of the running unit,
 * resolved on the node. The port of the public address may be one that is published for people
 * only; what counts is where the edge answers the node.
 */
const resolveScript = `# where the agent connects to
${agentVariable}
if [ "$2" = dns ]; then awk '$1 == "nameserver" { print $2, 53 }' /etc/resolv.conf; exit; fi
if [ -n "$3" ]; then agent_variable "$1" "$3"; else value=$4; fi
[ -n "$value" ] || { echo "the agent has no URL for $2" >&2; exit 3; }
split_url "$value"
found=$(getent ahostsv4 "$host" | awk '{ print $1 }' | sort -u); [ -n "$found" ] || { echo "$host does not resolve on the node" >&2; exit 3; }
if [ "$2" = edge ]; then
  a=\${found%%[!0-9.]*}; public=$port; port=
  for p in "$public" 443; do [ -n "$port" ] || ! timeout 2 bash -c 'exec 3<>"/dev/tcp/$0/$1"' "$a" "$p" 2>/dev/null || port=$p; done
  [ -n "$port" ] || { echo "$host answers the node neither on $public nor on 443" >&2; exit 3; }
fi
for a in $found; do echo "$a $port"; done`;

const blockScript = `# block address and port
while read -r a p; do
  case $2 in drop) j='-j DROP';; *) j='-j REJECT --reject-with tcp-reset';; esac
  iptables -w 5 -I OUTPUT -d "$a" -p tcp --dport "$p" -m comment --comment "$1" $j || exit 1
  [ "$p" != 53 ] || iptables -w 5 -I OUTPUT -d "$a" -p udp --dport 53 -m comment --comment "$1" -j "$(echo "$2" | tr a-z A-Z)" || exit 1
done`;

const activeScript = `# rule there, and no connection comes about
iptables -w 5 -S OUTPUT | grep -qF -- "$1" || { echo 'no rule of ours'; exit 1; }
while read -r a p; do if timeout 0.6 bash -c 'exec 3<>"/dev/tcp/$0/$1"' "$a" "$p" 2>/dev/null; then echo "$a:$p answers"; exit 1; fi; echo "$a:$p unreachable"; done`;

export const egressBlock = defineFault({
  name: 'egress.block',
  title: 'A way out of the node is blocked',
  why: 'Firewalls and routes change under a running agent; a blocked way must be named as such and not as a dead agent.',
  params: z.strictObject({
    on,
    to: z
      .enum(['node-api', 'term', 'recovery', 'edge', 'dns'])
      .describe('what the node can no longer reach, by address and port'),
    mode: z
      .enum(['drop', 'reject'])
      .default('drop')
      .describe('drop: silence (timeouts); reject: a TCP reset'),
  }),
  targetKind: 'node',
  targetParam: 'on',
  undoKind: 'node-rule',
  place: ['on', 'to'],
  plan: ({ to, mode }, node, profile) => {
    const { agentUnit } = nodeNamed(profile, node);
    const variable = to in agentUrls ? agentUrls[to as keyof typeof agentUrls] : '';
    const stdin = '{snapshot:addresses}';
    return {
      summary: `${node} cannot reach ${to} (${mode})`,
      cuts: [to === 'dns' ? `dns:${node}` : `link:${node}.${to}`],
      snapshot: [
        {
          name: 'addresses',
          do: sh(node, resolveScript, agentUnit, to, variable, profile.endpoints.api ?? ''),
        },
      ],
      inject: [withStdin(sh(node, blockScript, tag, mode), stdin)],
      undo: [sh(node, removeRules, tag)],
      active: withStdin(sh(node, activeScript, tag), stdin),
      digest: sh(node, rulesDigest, tag),
      reaches: 'an OUTPUT rule also matches what is already open',
    };
  },
});
