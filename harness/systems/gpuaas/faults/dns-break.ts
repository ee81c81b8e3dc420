import { z } from 'zod';
import { defineFault } from '../../../faults/define.ts';
import { exec, on, sh, tag, withStdin } from '../../../faults/kit.ts';
import { removeRules, rulesDigest } from '../../../faults/rules.ts';
import type { Action } from '../../../records/action.ts';
import { nodeNamed } from '../deployment.ts';
import { agentUrls, agentVariable, restartAgent } from './agent.ts';
import { feltByAgent } from './felt-by-agent.ts';

const nameScript = `# the name that the agent resolves
${agentVariable}
agent_variable "$1" "$2"; [ -n "$value" ] || { echo "the agent has no $2" >&2; exit 3; }
split_url "$value"
getent ahostsv4 "$host" > /dev/null || { echo "$host does not resolve on the node even now" >&2; exit 3; }
entry=$(grep -v '^ *#' /etc/hosts | grep -wF -- "$host" || :)
case $3 in
  missing-entry) [ -n "$entry" ] || { echo "$host is not in /etc/hosts: use nxdomain" >&2; exit 3; } ;;
  *) [ -z "$entry" ] || { echo "the node finds $host in /etc/hosts: use missing-entry" >&2; exit 3; } ;;
esac
echo "$host"`;

/**
 * Waits until a fresh lookup on the node gives what is wanted; `rndc reload` only queues the work.
 */
const awaitScript = `# wait until a lookup is wrong, then restart the agent
n=0; while [ $n -lt 40 ]; do
  now=$(timeout 1 getent ahostsv4 "$1" | awk 'NR == 1 { print $1 }')
  case $2 in wrong-answer) [ -n "$now" ] && [ "$now" != "$4" ] && break ;; *) [ -z "$now" ] && break ;; esac
  sleep 0.05; n=$((n + 1))
done
[ $n -lt 40 ] || { echo "$1 still resolves to $now" >&2; exit 1; }
systemctl try-restart "$3"`;

const activeScript = `# what a lookup on the node gives now, and what the agent says of it
${feltByAgent}
now=$(timeout 1 getent ahostsv4 "$1" | awk 'NR == 1 { print $1 }'); printf '%s: %s; ' "$1" "\${now:-nothing}"
case $2 in wrong-answer) [ -n "$now" ] && [ "$now" != "$3" ] ;; *) [ -z "$now" ] ;; esac || exit 1
[ -z "$4" ] || felt "$4" || exit 1`;

const addressScript = `# its right address
getent ahostsv4 "$1" | awk 'NR == 1 { print $1 }'`;

const zoneScript = `# change the record
set -e; f="/var/lib/bind/$1.zone"; label=\${2%%.*}
case $3 in
  nxdomain) sed "/^$label[[:space:]]/d" "$f" > "$f.hopdrill" ;;
  *) other=api; [ "$4" = edge ] || other=dns
     to=$(awk -v l="$other" '$1 == l { print $NF; exit }' "$f"); [ -n "$to" ] || exit 3
     sed "s/^\\($label[[:space:]].*[[:space:]]\\)[0-9.]*\\$/\\1$to/" "$f" > "$f.hopdrill" ;;
esac
cmp -s "$f" "$f.hopdrill" && { rm "$f.hopdrill"; echo "no record of $2 in $f" >&2; exit 1; }
cat "$f.hopdrill" > "$f"; rm "$f.hopdrill"; rndc reload > /dev/null`;

const zoneBack = `# put the zone back
set -e; f="/var/lib/bind/$1.zone"; cat > "$f"; rm -f "$f.hopdrill"; rndc reload > /dev/null; sleep 0.2`;

const zoneDigest = `# the zone
sha256sum < "/var/lib/bind/$1.zone"; ls /var/lib/bind/*.hopdrill 2>/dev/null || :`;

/** Only questions for this one name: the others stay answered. */
const silence = `# drop the questions for the name
hex=$(printf %s "$2" | perl -e 'print map { sprintf "|%02x|%s", length, $_ } split /\\./, <STDIN>')
iptables -w 5 -I OUTPUT -p udp --dport 53 -m string --algo bm --icase --hex-string "$hex" -m comment --comment "$1" -j DROP
iptables -w 5 -I OUTPUT -p tcp --dport 53 -m string --algo bm --icase --hex-string "$hex" -m comment --comment "$1" -j DROP`;

const hostsLines = `# the entries of the name
grep -v '^ *#' /etc/hosts | grep -wF -- "$1" || echo none`;
const hostsRemove = `# remove the entries of the name
set -e; cp -a /etc/hosts /etc/hosts.hopdrill; awk -v h="$1" '/^ *#/ { print; next } { for (i = 2; i <= NF; i++) if ($i == h) next; print }' /etc/hosts > /etc/hosts.hopdrill; mv /etc/hosts.hopdrill /etc/hosts`;
const hostsBack = `# put the entries back
grep -v '^ *#' /etc/hosts | grep -qwF -- "$1" && exit 0
set -e; cp -a /etc/hosts /etc/hosts.hopdrill; cat >> /etc/hosts.hopdrill; mv /etc/hosts.hopdrill /etc/hosts`;

const params = z.strictObject({
  on,
  name: z.enum(['node-api', 'term', 'recovery']).default('node-api').describe('whose name'),
  mode: z
    .enum(['nxdomain', 'timeout', 'wrong-answer', 'missing-entry'])
    .describe('what a lookup gives; missing-entry: a node that finds names in /etc/hosts'),
  answer: z
    .enum(['edge', 'nobody'])
    .default('nobody')
    .describe('wrong-answer: an address where another TLS server listens, or none'),
});

/**
 * Where the change is made: the zone at the name server, the node's own rules, or its hosts file.
 */
function ways(
  p: z.infer<typeof params>,
  node: string,
): { inject: Action; undo: Action; digest: Action } {
  const host = '{snapshot:name}';
  if (p.mode === 'timeout')
    return {
      inject: sh(node, silence, tag, host),
      undo: sh(node, removeRules, tag),
      digest: sh(node, rulesDigest, tag),
    };
  if (p.mode === 'missing-entry') {
    return {
      inject: sh(node, hostsRemove, host),
      undo: withStdin(sh(node, hostsBack, host), '{snapshot:before}'),
      digest: sh(node, hostsLines, host),
    };
  }
  return {
    inject: exec('dns', zoneScript, node, host, p.mode, p.answer),
    undo: withStdin(exec('dns', zoneBack, node), '{snapshot:before}'),
    digest: exec('dns', zoneDigest, node),
  };
}

export const dnsBreak = defineFault({
  name: 'dns.break',
  title: 'A private name no longer resolves as it should',
  why: 'Broken resolution looks like a dead network; it must be named as resolution, with the name and the answer.',
  params,
  targetKind: 'node',
  targetParam: 'on',
  undoKind: 'node-rule',
  plan: (p, node, profile) => {
    const { agentUnit } = nodeNamed(profile, node);
    const host = '{snapshot:name}';
    const right = '{snapshot:address}';
    const { inject, undo, digest } = ways(p, node);
    const before =
      p.mode === 'missing-entry'
        ? sh(node, hostsLines, host)
        : exec('dns', '# the zone\ncat "/var/lib/bind/$1.zone"', node);
    return {
      kind:
        p.mode === 'timeout' ? 'node-rule' : p.mode === 'missing-entry' ? 'node-file' : 'part-file',
      summary: `${node} resolves the name of ${p.name}: ${p.mode}`,
      cuts: [`dns:${node}`],
      snapshot: [
        { name: 'name', do: sh(node, nameScript, agentUnit, agentUrls[p.name], p.mode) },
        { name: 'address', do: sh(node, addressScript, host) },
        ...(p.mode === 'timeout' ? [] : [{ name: 'before', do: before }]),
      ],
      inject: [
        inject,
        p.mode === 'timeout'
          ? sh(node, restartAgent, agentUnit)
          : sh(node, awaitScript, host, p.mode, agentUnit, right),
      ],
      undo: [undo],
      // The other names are asked for when a terminal opens, or a new certificate is needed: until
      // then nobody can feel it.
      active: sh(node, activeScript, host, p.mode, right, p.name === 'node-api' ? agentUnit : ''),
      digest,
      reaches: 'the agent is restarted: an open connection never asks for a name again',
      supersedable: p.mode === 'missing-entry',
    };
  },
});
