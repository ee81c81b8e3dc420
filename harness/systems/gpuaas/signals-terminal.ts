// Signals of the terminal: seed 000's terminal matrix.
import type { Policies, Signal } from '../../preflight/types.ts';
import { wayIsBroken } from './causes.ts';
import * as p from './policies.ts';

const session = (policies: Policies): number => p.sessionSeconds(policies) + 5;
const route = (): number => 2 * p.publicSeconds + 2;

const known: Readonly<Record<string, Signal>> = {
  terminal_token_mint_failed: {
    severity: 'P1',
    owner: 'API / authz / allocation state',
    next: 'Fix session, role, project context, or allocation active state',
    within: route,
    causes: [
      'public_api_unreachable',
      'unauthenticated',
      'forbidden',
      'allocation_not_found',
      'allocation_not_active',
      'database_unavailable',
      'error_envelope',
      'not_our_service',
    ],
  },
  terminal_public_route_missing: {
    severity: 'P1',
    owner: 'Edge / Pomerium / Cloudflare',
    next: 'Repair terminal host route, health path, and WebSocket upgrade config',
    within: route,
    causes: [
      'dns_failed',
      'tcp_refused',
      'tcp_timeout',
      'tcp_reset',
      'tls_failed',
      'route_not_found',
      'login_page',
      'not_our_service',
    ],
  },
  terminal_gateway_upgrade_failed: {
    severity: 'P1',
    owner: 'Terminal gateway / edge',
    next: 'Repair route, token subprotocol, Redis/session binding, or gateway health',
    within: session,
    causes: [
      'session_binding_unavailable',
      'gateway_down',
      'upgrade_headers_stripped',
      'subprotocol_lost',
      'silent_hang',
      'token_rejected',
      'token_used',
      'upgrade_refused',
      'upgrade_reset',
      'edge_denied',
      'closed_without_frame',
    ],
  },
  terminal_open_not_completed: {
    ours: true,
    severity: 'P1',
    owner: 'Control plane / node-agent version',
    next: 'Check why the API did not enqueue terminal.open, or why the node-agent did not take it',
    within: (policies) => p.claimSeconds(policies) + p.sessionSeconds(policies) + 5,
    causes: ['not_enqueued', 'not_claimed', 'signature', 'expiry', 'journal'],
  },
  terminal_node_stream_timeout: {
    severity: 'P1',
    owner: 'Node-facing terminal endpoint/profile',
    next: 'Test `GPUAAS_TERMINAL_API_URL` from node; fix route, port, DNS, or firewall',
    within: (policies) => p.terminalDialSeconds(policies) + p.sshSeconds + 6,
    causes: [
      ...wayIsBroken,
      'tls_failed',
      'server_tls_untrusted',
      'server_cert_expired',
      'server_cert_not_yet_valid',
      'tls_name_mismatch',
      'tls_self_signed',
      'tls_to_plain',
      'tls_wrong_usage',
      'tls_version',
      'clock_ahead',
      'clock_behind',
      'bundle_missing',
      'url_invalid',
      'profile_drift',
      'late',
      'wrong_endpoint',
      'other_replica',
      'no_stream',
    ],
  },
  terminal_open_without_stream: {
    severity: 'P1',
    owner: 'Node-agent terminal callback path / stale node-agent build',
    next: 'Upgrade node-agent to a build that gates success on stream readiness, then fix node-facing WebSocket endpoint/profile',
    within: session,
    causes: ['old_agent'],
  },
  terminal_node_stream_mtls_failed: {
    severity: 'P1',
    owner: 'PKI / terminal gateway',
    next: 'Repair node cert, CA trust, SAN, or gateway client-cert policy',
    within: session,
    causes: [
      'client_cert_untrusted',
      'client_cert_expired',
      'client_cert_missing',
      'client_identity_mismatch',
      'client_cert_rejected',
    ],
  },
  terminal_pty_failed: {
    severity: 'P1',
    owner: 'Node runtime / allocation user setup',
    next: 'Repair allocation user, shell, sudo/pty permissions, or cleanup drift',
    within: session,
    causes: [
      'user_missing',
      'shell_failed',
      'no_space',
      'pty_unavailable',
      'pty_ready_timeout',
      'no_answer',
      'shell_exited',
    ],
  },
  terminal_ui_connecting_stuck: {
    severity: 'P1',
    owner: 'Web UX / terminal gateway contract',
    next: 'Return structured error frame and map it to user-visible recovery text',
    within: (policies) => p.sessionSeconds(policies) + 10,
    causes: ['frame_not_rendered'],
  },
  terminal_env_profile_drift: {
    severity: 'P1',
    owner: 'Environment profile',
    next: 'Fix profile-specific edge/node route; record as env drift',
    within: (policies) => p.terminalDialSeconds(policies) + p.sshSeconds + 6,
    causes: ['profile_drift'],
  },
};

/** Whatever the formulas say: a terminal that does not open is named within the seeds' 30 s. */
export const terminalSignals: Readonly<Record<string, Signal>> = Object.fromEntries(
  Object.entries(known).map(([name, signal]) => [
    name,
    { ...signal, budget: p.terminalBudgetSeconds },
  ]),
);
