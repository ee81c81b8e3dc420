/** What of the platform has a name; where it is, is in the profile. */
const nodes = ['node-1', 'node-2'];
const ofNode = ['node-api', 'term', 'recovery'];

export const names = {
  nodes,
  parts: ['api', 'db', 'dns', 'edge', 'gateway', 'ingress', 'links', 'provider', 'redis'],
  links: [
    ...nodes.flatMap((node) => ofNode.map((link) => `${node}.${link}`)),
    'api.db',
    'gateway.redis',
    'gateway.api',
    'edge.api',
    'edge.gateway',
  ],
} as const;

/**
 * What the wire contract lets the platform say: of a node in its history, and to a person in the
 * console.
 */
export const words = {
  properNouns: ['gpuaas', 'lxd', 'maas', 'proxmox', 'tmux'],
  userStates: [
    'normal',
    'temporary',
    'recovering',
    'operator_action_required',
    'security_action_required',
  ],
  history: [
    'status',
    'heartbeat',
    'task',
    'diagnostic',
    'recovery_enrolment',
    'node.evidence_attached',
    'node.quarantined',
    'node.recovery_token_issued',
    'node.repair_bundle_issued',
    'node.restored',
    'node.revoked',
    'agent_down',
    'cert_expired',
    'cert_untrusted_by_ingress',
    'endpoint_profile_drift',
    'recovery_token_missing',
    'task_backlog_stale',
    'identity_revoked_or_fenced',
    'cloned_identity_detected',
    'node_agent_unreachable',
    'normal',
    'temporary',
    'recovering',
    'operator_action_required',
    'security_action_required',
  ],
  page: [
    'ready',
    'terminal_open_not_enqueued',
    'terminal_open_failed',
    'node_stream_timeout',
    'node_stream_lost',
    'pty_ready_timeout',
    'pty_failed',
    'session_expired',
    'session_stalled',
    'terminal_not_ready',
    'terminal_gateway_unreachable',
    'terminal_gateway_refused',
    'api_unreachable',
    'page_failed',
    'page_incomplete',
    'connection_lost',
    'session_binding_unavailable',
    'terminal_token_missing',
    'terminal_token_invalid',
    'terminal_token_expired',
    'terminal_token_used',
    'too_many_sessions',
    'going_away',
    'unauthenticated',
    'forbidden',
    'allocation_not_found',
    'allocation_not_active',
    'edge_rate_limited',
    'database_unavailable',
  ],
} as const;
