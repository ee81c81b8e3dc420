import type { HopDeclaration } from '../../../preflight/types.ts';
import type { Session } from '../probe/session.ts';
import { allocationBinding } from './allocation-binding.ts';
import { browserTerminalPage } from './browser-terminal-page.ts';
import { browserTerminalWs } from './browser-terminal-ws.ts';
import { gatewayNodeStream } from './gateway-node-stream.ts';
import { nodeHeartbeat } from './node-heartbeat.ts';
import { nodeOpsAccess } from './node-ops-access.ts';
import { nodeReadiness } from './node-readiness.ts';
import { nodeRecoveryStatus } from './node-recovery-status.ts';
import { nodeRuntimeApiReachability } from './node-runtime-api-reachability.ts';
import { nodeTaskRoundtrip } from './node-task-roundtrip.ts';
import { nodeTerminalReachability } from './node-terminal-reachability.ts';
import { terminalOpenTask } from './terminal-open-task.ts';
import { terminalPublicRoute } from './terminal-public-route.ts';
import { terminalTokenMint } from './terminal-token-mint.ts';
import { workloadTerminalStartupFailure } from './workload-terminal-startup-failure.ts';

/** The chain, in the order of the runbook. */
export const hops: readonly HopDeclaration<Session>[] = [
  allocationBinding,
  nodeOpsAccess,
  nodeReadiness,
  nodeRuntimeApiReachability,
  nodeRecoveryStatus,
  nodeHeartbeat,
  nodeTaskRoundtrip,
  terminalTokenMint,
  terminalPublicRoute,
  browserTerminalWs,
  terminalOpenTask,
  nodeTerminalReachability,
  gatewayNodeStream,
  workloadTerminalStartupFailure,
  browserTerminalPage,
];
