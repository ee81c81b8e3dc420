import { z } from 'zod';
import { defineFault } from './define.ts';
import { agentOf, on, savedDir, sh } from './kit.ts';

/** Load, active and enablement state; a unit that is just starting gets a moment. */
const stateScript = `# load, active and enablement state of the unit
n=0; while [ $n -lt 40 ]; do a=$(systemctl show -p ActiveState --value "$1"); case $a in activating | deactivating | reloading) sleep 0.05 ;; *) break ;; esac; n=$((n + 1)); done
systemctl show -p LoadState,ActiveState,UnitFileState "$1"`;

const saveScript = `# keep the unit's file, say whether it runs
set -e; umask 077; mkdir -p "$1"; systemctl cat "$2" > /dev/null
[ ! -e "/etc/systemd/system/$2" ] || cp -a "/etc/systemd/system/$2" "$1/"
systemctl show -p ActiveState --value "$2"`;

/**
 * A unit whose file lies in /etc cannot be masked by systemctl: the link takes the file's place.
 */
const stopScript = `# stop, or mask and stop
if [ "$2" = mask ]; then f="/etc/systemd/system/$1"; rm -f "$f" && ln -s /dev/null "$f" && systemctl daemon-reload || exit 1; fi
systemctl stop "$1"`;

const startScript = `# unmask, start when it ran before
f="/etc/systemd/system/$2"
if [ "$3" = mask ]; then
  [ "$(readlink "$f")" != /dev/null ] || rm -f "$f"
  [ -e "$f" ] || [ ! -e "$1/$2" ] || cp -a "$1/$2" "$f"
  systemctl daemon-reload || exit 1
fi
[ "$4" != active ] || systemctl start "$2"`;

const activeScript = `# no process of the unit
s=$(systemctl show -p ActiveState,LoadState,MainPID "$1" | tr '\\n' ' '); echo "$s"
case $s in *ActiveState=active*) exit 1 ;; esac
[ "$2" != mask ] || case $s in *LoadState=masked*) ;; *) exit 1 ;; esac`;

export const serviceStop = defineFault({
  name: 'service.stop',
  title: 'A unit on the node is stopped',
  why: 'Somebody stops or masks a service by hand; the platform must see it as that and not as a dead network.',
  params: z.strictObject({
    on,
    unit: z.string().default('agent').describe('`agent`, or the name of a unit with its ending'),
    how: z.enum(['stop', 'mask']).default('stop').describe('mask: it cannot be started either'),
  }),
  targetKind: 'node',
  targetParam: 'on',
  undoKind: 'unit',
  place: ['on', 'unit'],
  conflicts: {
    'process.kill': 'a stopped unit has no process to kill',
  },
  plan: ({ unit: wanted, how }, node, profile) => {
    const unit = wanted === 'agent' ? agentOf(profile, node).unit : wanted;
    return {
      summary: `${unit} on ${node} is ${how === 'mask' ? 'masked and stopped' : 'stopped'}`,
      cuts: /^ssh/.test(unit) ? [`ssh:${node}`] : [],
      snapshot: [{ name: 'was', do: sh(node, saveScript, savedDir, unit) }],
      inject: [sh(node, stopScript, unit, how)],
      undo: [sh(node, startScript, savedDir, unit, how, '{snapshot:was}')],
      active: sh(node, activeScript, unit, how),
      digest: sh(node, stateScript, unit),
    };
  },
});
