import { z } from 'zod';
import { durationMs } from '../records/duration.ts';
import { defineFault } from './define.ts';
import { docker, exec, nodeOf, on } from './kit.ts';

/** Another boot: another kernel's run, or another first process in the same one. */
const bootScript = `# which boot this is
echo "$(cat /proc/sys/kernel/random/boot_id) $(sed 's/.*) //' /proc/1/stat | cut -d' ' -f20)"`;

const activeScript = `# whether it is another boot
now=$(${bootScript.split('\n')[1]})
[ "$now" != "$1" ] || { echo 'the same boot'; exit 1; }
echo 'another boot'`;

export const nodeReboot = defineFault({
  name: 'node.reboot',
  title: 'The node is rebooted',
  why: 'A short outage heals itself, and nobody may take it for a lost identity or a broken workload.',
  params: z.strictObject({
    on,
    down: z
      .string()
      .regex(/^\d+(\.\d+)?(ms|s|m)$/)
      .default('0s')
      .describe('how long it stays off, e.g. `20s`'),
  }),
  targetKind: 'node',
  targetParam: 'on',
  undoKind: 'container',
  conflicts: {
    'service.stop': 'a unit that was stopped starts with the node',
    'process.kill': 'a process that was killed starts with the node',
    'process.pause': 'a process that was paused starts with the node',
  },
  plan: ({ down }, node, profile) => {
    const { lifeline } = nodeOf(profile, node);
    if (lifeline.kind !== 'docker')
      throw new Error(`node.reboot: ${node} is no container, and nobody could start it again`);
    const ms = durationMs(down);
    return {
      summary: `${node} is rebooted${ms === 0 ? '' : `, and is off for ${down}`}`,
      event: true,
      cuts: [`ssh:${node}`],
      snapshot: [{ name: 'boot', do: exec(node, bootScript) }],
      inject: [docker(node, 'stop'), docker(node, 'start', ms > 0 ? { afterMs: ms } : {})],
      undo: [docker(node, 'start')],
      active: exec(node, activeScript, '{snapshot:boot}'),
      digest: docker(node, 'inspect'),
      reaches: 'everything on the node begins anew',
    };
  },
});
