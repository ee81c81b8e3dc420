import { z } from 'zod';
import { defineFault } from './define.ts';
import { agentOf, on, sh } from './kit.ts';

/** T: stopped by a signal. A process that is gone is neither stopped nor going. */
const state = `pid=$(systemctl show -p MainPID --value "$1"); [ "$pid" != 0 ] || { echo 'it does not run'; exit 3; }
case $(sed 's/.*) //' "/proc/$pid/stat" | cut -c1) in T) echo paused ;; *) echo 'it runs' ;; esac`;

const stateScript = `# whether the main process goes on
${state}`;

const runsScript = `# the main process goes on
( ${state} ) | grep -x 'it runs' || { echo 'it does not run even now' >&2; exit 3; }`;

const activeScript = `# the main process is stopped
( ${state} ) | grep -x paused`;

const signalScript = `# send a signal to the main process
systemctl kill --kill-who=main --signal="$2" "$1"`;

/** A unit that is stopped meanwhile is somebody else's doing. */
const goOnScript = `# let the main process go on
systemctl -q is-active "$1" || exit 0
systemctl kill --kill-who=main --signal=SIGCONT "$1"`;

export const processPause = defineFault({
  name: 'process.pause',
  title: 'The agent process hangs',
  why: 'A process that exists and does nothing is active for systemd, and holds its connections: only its silence tells.',
  params: z.strictObject({
    on,
    unit: z.string().default('agent').describe('`agent`, or the name of a unit with its ending'),
  }),
  targetKind: 'node',
  targetParam: 'on',
  undoKind: 'process',
  place: ['on', 'unit'],
  conflicts: {
    'service.stop': 'a stopped unit has no process to pause',
    'process.kill': 'a process that was killed cannot be paused',
  },
  plan: ({ unit: wanted }, node, profile) => {
    const unit = wanted === 'agent' ? agentOf(profile, node).unit : wanted;
    return {
      summary: `the process of ${unit} on ${node} is paused`,
      cuts: [],
      snapshot: [{ name: 'runs', do: sh(node, runsScript, unit) }],
      inject: [sh(node, signalScript, unit, 'SIGSTOP')],
      undo: [sh(node, goOnScript, unit)],
      active: sh(node, activeScript, unit),
      digest: sh(node, stateScript, unit),
      reaches: 'what is open stays open, and nobody answers on it',
    };
  },
});
