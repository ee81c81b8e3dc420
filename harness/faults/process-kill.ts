import { z } from 'zod';
import { defineFault } from './define.ts';
import { agentOf, on, sh, transientUnit } from './kit.ts';

const killer = 'hopdrill-{run}-{step}-kill.service';

/**
 * A unit with Restart=always is back in a second: to keep it down, a transient unit kills it each
 * time.
 */
const killScript = `# kill the main process
systemctl kill --kill-who=main --signal="$3" "$1" || exit 1
[ "$4" = true ] || exit 0
systemd-run --quiet --collect --unit="$2" sh -c 'while :; do sleep 0.2; systemctl kill --kill-who=main --signal="$2" "$1" 2>/dev/null; done' hopdrill "$1" "$3"`;

const endScript = `# end the killing, start the unit
systemctl stop "$2" 2>/dev/null; systemctl reset-failed "$2" 2>/dev/null
n=0; while [ $n -lt 3 ]; do systemctl start "$1" && sleep 0.1 && systemctl -q is-active "$1" && exit 0; n=$((n + 1)); done; exit 1`;

const restartsScript = `# restarts so far
[ "$(systemctl show -p ActiveState --value "$1")" = active ] || { echo 'it does not run even now' >&2; exit 3; }
systemctl show -p NRestarts --value "$1"`;

const activeScript = `# it was restarted, and is still being killed
now=$(systemctl show -p NRestarts --value "$1"); state=$(systemctl show -p ActiveState,SubState --value "$1" | tr '\\n' ' ')
echo "restarts $3 -> $now, $state"
[ "$4" != true ] || systemctl -q is-active "$2" || exit 1
[ "$now" -gt "$3" ] || case $state in *auto-restart*) ;; *) exit 1 ;; esac`;

const digestScript = `# whether it runs, and whether we kill it
n=0; while [ $n -lt 40 ]; do a=$(systemctl show -p ActiveState --value "$1"); [ "$a" != activating ] && break; sleep 0.05; n=$((n + 1)); done
echo "$a"; ! systemctl -q is-active "$2" || echo killing`;

export const processKill = defineFault({
  name: 'process.kill',
  title: 'The agent process dies',
  why: 'A process that exits, again and again, is another thing than one that was stopped.',
  params: z.strictObject({
    on,
    unit: z.string().default('agent').describe('`agent`, or the name of a unit with its ending'),
    signal: z
      .enum(['SIGKILL', 'SIGTERM', 'SIGSEGV', 'SIGABRT'])
      .default('SIGKILL')
      .describe('what it dies of'),
    keep: z.boolean().default(true).describe('kill it again each time that it was restarted'),
  }),
  targetKind: 'node',
  targetParam: 'on',
  undoKind: 'process',
  marks: [transientUnit(killer)],
  place: ['on', 'unit'],
  plan: ({ unit: wanted, signal, keep }, node, profile) => {
    const unit = wanted === 'agent' ? agentOf(profile, node).unit : wanted;
    return {
      summary: `the process of ${unit} on ${node} dies of ${signal}${keep ? ', each time that it starts' : ''}`,
      cuts: [],
      snapshot: [{ name: 'restarts', do: sh(node, restartsScript, unit) }],
      inject: [sh(node, killScript, unit, killer, signal, String(keep))],
      undo: [sh(node, endScript, unit, killer)],
      active: sh(node, activeScript, unit, killer, '{snapshot:restarts}', String(keep)),
      digest: sh(node, digestScript, unit, killer),
    };
  },
});
