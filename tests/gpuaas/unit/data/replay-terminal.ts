// The situations of the terminal domain as data.
import {
  type Failing,
  fail,
  noSession,
  noStream,
  type Picture,
  type Situation,
  situation,
  streamTimeout,
} from './replay.ts';

const noTerminal: Picture = { browser_terminal_ws: 'unknown', ...noSession };
const upgrade = (cause: string, blames: string) =>
  fail('terminal_gateway_upgrade_failed', cause, blames);
const pty = (cause: string) => fail('terminal_pty_failed', cause, 'user:allocation');

const cutFromGateway = (id: string, said: Failing, variant?: string): Situation =>
  situation(
    id,
    'node_terminal_reachability',
    said,
    noStream(said.cause),
    noStream('no_stream'),
    variant,
  );

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
