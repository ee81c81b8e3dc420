// The 38 situations of the node-agent and terminal domains as data: what each probe says two
// seconds after the fault and late, and which hop, signal and cause must come out (RULINGS 7).
export interface Failing {
  readonly signal: string;
  readonly cause: string;
  readonly blames: string;
}
export type Said = Failing | 'unknown' | 'warn' | 'silent warn' | 'skipped';
export type Picture = Readonly<Record<string, Said>>;
export type Pin =
  | { readonly hop: string; readonly signal: string; readonly cause: string }
  | 'healthy'
  | 'inconclusive';

export interface Situation {
  readonly id: string;
  readonly variant?: string;
  readonly pin: Pin;
  /** What the run two seconds after the fault may say besides the pin. */
  readonly early?: Picture;
  readonly late: Picture;
}

const fail = (signal: string, cause: string, blames: string): Failing => ({
  signal,
  cause,
  blames,
});
const pinned = (hop: string, said: Failing): Pin => ({
  hop,
  signal: said.signal,
  cause: said.cause,
});

const noSession: Picture = {
  terminal_open_task: 'unknown',
  gateway_node_stream: 'unknown',
  workload_terminal_startup_failure: 'unknown',
};
const noTerminal: Picture = { browser_terminal_ws: 'unknown', ...noSession };
/** The agent does not poll (any more): nothing is taken, and nothing follows. */
const noPolls: Picture = { node_task_roundtrip: 'unknown', ...noSession };
const stale = (cause: string): Picture => ({
  node_heartbeat: fail('node_agent_heartbeat_stale', cause, 'unit:agent'),
  ...noPolls,
});
const noStream = (cause: string): Picture => ({
  gateway_node_stream: fail('terminal_node_stream_timeout', cause, 'link:term'),
  workload_terminal_startup_failure: 'unknown',
});

/** One hop fails, with its consequences before and after the heartbeat is stale. */
function situation(
  id: string,
  hop: string,
  said: Failing,
  late: Picture = {},
  early: Picture = late,
  variant?: string,
): Situation {
  return {
    id,
    pin: pinned(hop, said),
    early: { ...early, [hop]: said },
    late: { ...late, [hop]: said },
    ...(variant !== undefined && { variant }),
  };
}

const unreachable = (cause: string, blames = 'link:node-api') =>
  fail('node_agent_api_unreachable', cause, blames);
const tlsFailed = (cause: string, blames: string) =>
  fail('node_agent_api_tls_failed', cause, blames);
const upgrade = (cause: string, blames: string) =>
  fail('terminal_gateway_upgrade_failed', cause, blames);
const streamTimeout = (cause: string, blames = 'link:term') =>
  fail('terminal_node_stream_timeout', cause, blames);
const pty = (cause: string) => fail('terminal_pty_failed', cause, 'user:allocation');
const auth = (cause: string, blames = 'file:node-cert') =>
  fail('node_agent_auth_failed', cause, blames);

const cutFromApi = (said: Failing, variant: string, id = 'node-api-egress-blocked'): Situation =>
  situation(
    id,
    'node_runtime_api_reachability',
    said,
    { ...stale('no_recent_poll'), node_recovery_status: 'unknown' },
    noPolls,
    variant,
  );
const cutFromGateway = (id: string, said: Failing, variant?: string): Situation =>
  situation(
    id,
    'node_terminal_reachability',
    said,
    noStream(said.cause),
    noStream('no_stream'),
    variant,
  );

const stopped = fail('node_agent_heartbeat_stale', 'process_down', 'unit:agent');
const untrusted = tlsFailed('server_tls_untrusted', 'file:ca-bundle');
const sshDown: Picture = { node_readiness: 'unknown', node_terminal_reachability: 'unknown' };

export const nodeAgent: readonly Situation[] = [
  {
    id: 'node-agent-service-stopped',
    pin: pinned('node_heartbeat', stopped),
    early: { node_heartbeat: 'warn', ...noPolls },
    late: stale('process_down'),
  },
  situation(
    'node-agent-process-exits',
    'node_heartbeat',
    fail('node_agent_process_down', 'restart_loop', 'unit:agent'),
    noPolls,
  ),
  cutFromApi(unreachable('tcp_timeout'), 'drop'),
  cutFromApi(unreachable('tcp_refused'), 'reject'),
  cutFromApi(unreachable('dns_nxdomain', 'resolver'), 'nxdomain', 'node-api-dns-broken'),
  cutFromApi(unreachable('dns_timeout', 'resolver'), 'timeout', 'node-api-dns-broken'),
  cutFromApi(
    tlsFailed('tls_name_mismatch', 'link:node-api'),
    'wrong answer, a TLS server there',
    'node-api-dns-broken',
  ),
  cutFromApi(unreachable('tcp_refused'), 'wrong answer, nobody there', 'node-api-dns-broken'),
  situation(
    'node-api-dns-broken',
    'node_runtime_api_reachability',
    unreachable('dns_timeout', 'resolver'),
    {
      ...stale('no_recent_poll'),
      node_recovery_status: 'unknown',
      node_terminal_reachability: streamTimeout('dns_timeout', 'resolver'),
    },
    { ...noPolls, node_terminal_reachability: streamTimeout('dns_timeout', 'resolver') },
    'the whole resolver',
  ),
  situation(
    'node-api-stale-trust-bundle',
    'node_runtime_api_reachability',
    untrusted,
    {
      ...stale('no_recent_poll'),
      node_recovery_status: auth('endpoint_profile_drift'),
      node_terminal_reachability: streamTimeout('server_tls_untrusted', 'file:ca-bundle'),
    },
    {
      ...noStream('no_stream'),
      node_terminal_reachability: streamTimeout('server_tls_untrusted', 'file:ca-bundle'),
    },
  ),
  situation(
    'node-api-auth-rejected-stale-cert',
    'node_recovery_status',
    auth('recovery_token_missing'),
    stale('no_recent_poll'),
    noPolls,
    'no token',
  ),
  { id: 'node-api-auth-rejected-stale-cert', variant: 'valid token', pin: 'healthy', late: {} },
  situation(
    'node-agent-pointed-at-public-edge',
    'node_recovery_status',
    auth('endpoint_profile_drift', 'link:node-api'),
    stale('no_recent_poll'),
    noPolls,
  ),
  situation(
    'node-task-claim-failed',
    'node_task_roundtrip',
    fail('node_task_claim_failed', 'signature', 'unit:agent'),
    {
      terminal_open_task: fail('terminal_open_not_completed', 'signature', 'unit:agent'),
      gateway_node_stream: 'unknown',
      workload_terminal_startup_failure: 'unknown',
    },
  ),
  situation(
    'node-agent-binary-invalid',
    'node_heartbeat',
    fail('node_agent_binary_invalid', 'exec_format', 'unit:agent'),
    noPolls,
  ),
  situation(
    'node-task-result-post-blocked',
    'node_task_roundtrip',
    fail('node_task_result_post_failed', 'result_missing', 'link:node-api'),
  ),
  { id: 'node-cert-rotated-while-running', pin: 'healthy', late: {} },
  situation('node-root-disk-full', 'node_readiness', fail('disk_full', 'no_space', 'fs:/'), {
    workload_terminal_startup_failure: fail('terminal_pty_failed', 'no_space', 'fs:/'),
  }),
  situation(
    'node-root-disk-full',
    'node_readiness',
    fail('disk_full', 'no_space', 'fs:/'),
    { node_recovery_status: auth('cert_expired'), ...stale('no_recent_poll') },
    {},
    'the certificate could not be renewed',
  ),
  situation(
    'node-root-disk-full',
    'node_readiness',
    fail('node_observability_disk_pressure', 'local_buffers', 'fs:/'),
    {},
    {},
    'buffers',
  ),
  situation(
    'node-ops-ssh-fails-agent-polls',
    'node_ops_access',
    fail('node_ops_ssh_failed', 'tcp_reset', 'link:ssh'),
    sshDown,
  ),
  situation(
    'node-ops-access-unhealthy-guest-agent-down',
    'node_ops_access',
    fail('node_ops_access_unhealthy', 'guest_agent_and_ssh_down', 'link:ssh'),
    sshDown,
  ),
];

export const terminal: readonly Situation[] = [
  situation(
    'allocation-inactive-or-wrong-node',
    'allocation_binding',
    fail('allocation_not_active', 'released', 'allocation'),
    {
      terminal_token_mint: fail(
        'terminal_token_mint_failed',
        'allocation_not_active',
        'allocation',
      ),
      ...noTerminal,
    },
  ),
  situation(
    'allocation-inactive-or-wrong-node',
    'allocation_binding',
    fail('allocation_wrong_node', 'other_node', 'allocation'),
    {},
    {},
    'other node',
  ),
  situation(
    'terminal-token-mint-fails',
    'terminal_token_mint',
    fail('terminal_token_mint_failed', 'forbidden', 'user:session'),
    noTerminal,
  ),
  situation(
    'terminal-token-mint-fails',
    'terminal_token_mint',
    fail('terminal_token_mint_failed', 'public_api_unreachable', 'edge'),
    {
      allocation_binding: 'unknown',
      node_recovery_status: 'unknown',
      node_heartbeat: 'unknown',
      node_task_roundtrip: 'unknown',
      terminal_public_route: fail('terminal_public_route_missing', 'tcp_refused', 'edge'),
      ...noTerminal,
    },
    undefined,
    'the edge is down',
  ),
  situation(
    'terminal-public-route-missing',
    'terminal_public_route',
    fail('terminal_public_route_missing', 'route_not_found', 'edge'),
    {
      browser_terminal_ws: upgrade('upgrade_refused', 'edge'),
      ...noSession,
    },
  ),
  { id: 'terminal-gateway-root-404-is-healthy', pin: 'healthy', late: {} },
  {
    id: 'terminal-ws-smoke-without-edge-cookie-is-not-proof',
    pin: 'inconclusive',
    late: { browser_terminal_ws: 'unknown', ...noSession },
  },
  situation(
    'terminal-ws-upgrade-headers-broken',
    'browser_terminal_ws',
    upgrade('upgrade_headers_stripped', 'edge'),
    noSession,
  ),
  situation(
    'terminal-token-subprotocol-not-forwarded',
    'browser_terminal_ws',
    upgrade('subprotocol_lost', 'edge'),
    noSession,
  ),
  situation(
    'terminal-redis-session-binding-unavailable',
    'browser_terminal_ws',
    upgrade('session_binding_unavailable', 'service:session-store'),
    noSession,
  ),
  situation(
    'terminal-gateway-silent-hang',
    'browser_terminal_ws',
    upgrade('silent_hang', 'service:gateway'),
    {
      terminal_public_route: 'silent warn',
      ...noSession,
    },
  ),
  situation(
    'terminal-open-not-enqueued-or-not-completed',
    'terminal_open_task',
    fail('terminal_open_not_completed', 'not_enqueued', 'service:api'),
    {
      gateway_node_stream: 'unknown',
      workload_terminal_startup_failure: 'unknown',
    },
  ),
  cutFromGateway('terminal-node-egress-blocked', streamTimeout('tcp_timeout')),
  cutFromGateway('terminal-node-egress-blocked', streamTimeout('tcp_refused'), 'reject'),
  cutFromGateway('terminal-node-resolve-entry-missing', streamTimeout('dns_nxdomain', 'resolver')),
  cutFromGateway('terminal-api-url-wrong-host-or-port', streamTimeout('profile_drift')),
  situation(
    'terminal-public-profile-on-maas-lxd-worker',
    'gateway_node_stream',
    streamTimeout('wrong_endpoint'),
    {
      node_terminal_reachability: 'silent warn',
      workload_terminal_startup_failure: 'unknown',
    },
  ),
  cutFromGateway('terminal-proxmox-node-stream-timeout', streamTimeout('profile_drift')),
  situation(
    'terminal-open-success-without-stream',
    'gateway_node_stream',
    fail('terminal_open_without_stream', 'old_agent', 'link:term'),
    {
      workload_terminal_startup_failure: 'unknown',
    },
  ),
  situation(
    'terminal-node-stream-mtls-rejected',
    'gateway_node_stream',
    fail('terminal_node_stream_mtls_failed', 'client_cert_untrusted', 'trust:gateway'),
    {
      workload_terminal_startup_failure: 'unknown',
    },
  ),
  situation(
    'terminal-allocation-user-missing',
    'workload_terminal_startup_failure',
    pty('user_missing'),
  ),
  situation('terminal-pty-shell-failure', 'workload_terminal_startup_failure', pty('shell_failed')),
  situation(
    'terminal-pty-readiness-delayed',
    'workload_terminal_startup_failure',
    pty('pty_ready_timeout'),
  ),
  situation('terminal-node-stream-delayed', 'gateway_node_stream', streamTimeout('late'), {
    node_terminal_reachability: 'silent warn',
    workload_terminal_startup_failure: 'unknown',
  }),
  situation(
    'terminal-ui-connecting-stuck',
    'browser_terminal_page',
    fail('terminal_ui_connecting_stuck', 'frame_not_rendered', 'page:console'),
  ),
  cutFromGateway(
    'terminal-env-profile-drift',
    fail('terminal_env_profile_drift', 'profile_drift', 'link:term'),
  ),
  situation(
    'terminal-gateway-outage',
    'browser_terminal_ws',
    upgrade('gateway_down', 'service:gateway'),
    {
      node_terminal_reachability: streamTimeout('tls_reset'),
      ...noSession,
    },
  ),
];

/** Without its data a hop says nothing, whatever else is broken behind it. */
export const needsData = new Set([
  'allocation_binding',
  'node_task_roundtrip',
  'browser_terminal_ws',
  'terminal_open_task',
  'gateway_node_stream',
  'workload_terminal_startup_failure',
]);
