// Where a broken platform has to be named, in the words of the seeds' two matrices.
import type { Place } from '../support/named.ts';

const at =
  (hop: string, signal: string) =>
  (cause?: string): Place => ({ hop, signal, ...(cause !== undefined && { cause }) });

export const unreachable = at('node_runtime_api_reachability', 'node_agent_api_unreachable');
export const tlsFailed = at('node_runtime_api_reachability', 'node_agent_api_tls_failed');
export const authFailed = at('node_recovery_status', 'node_agent_auth_failed');
export const rateLimited = at('node_recovery_status', 'edge_rate_limited');
export const stale = at('node_heartbeat', 'node_agent_heartbeat_stale');
export const processDown = at('node_heartbeat', 'node_agent_process_down');
export const binaryInvalid = at('node_heartbeat', 'node_agent_binary_invalid');
export const diskFull = at('node_readiness', 'disk_full');
export const opsAccess = at('node_ops_access', 'node_ops_access_unhealthy');
export const resultLost = at('node_task_roundtrip', 'node_task_result_post_failed');
export const routeMissing = at('terminal_public_route', 'terminal_public_route_missing');
export const upgradeFailed = at('browser_terminal_ws', 'terminal_gateway_upgrade_failed');
export const listenerTimeout = at('node_terminal_reachability', 'terminal_node_stream_timeout');
export const streamTimeout = at('gateway_node_stream', 'terminal_node_stream_timeout');
export const streamRefused = at('gateway_node_stream', 'terminal_node_stream_mtls_failed');
export const ptyFailed = at('workload_terminal_startup_failure', 'terminal_pty_failed');
