// Faults that know no system. A system adds its own.
import { configSet } from './config-set.ts';
import { containerStop } from './container-stop.ts';
import type { FaultDefinition } from './define.ts';
import { diskFill } from './disk-fill.ts';
import { linkCut } from './link-cut.ts';
import { linkLatency } from './link-latency.ts';
import { nodeReboot } from './node-reboot.ts';
import { processKill } from './process-kill.ts';
import { processPause } from './process-pause.ts';
import { serviceStop } from './service-stop.ts';
import { sshRefuse } from './ssh-refuse.ts';

export const genericFaults: readonly FaultDefinition[] = [
  configSet,
  containerStop,
  diskFill,
  linkCut,
  linkLatency,
  nodeReboot,
  processKill,
  processPause,
  serviceStop,
  sshRefuse,
];
