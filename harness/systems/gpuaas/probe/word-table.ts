// What a reason of the agent's own record means, by phase and code: the hop where it belongs, its
// signal and cause, and what is to blame. The one declaration of it.
import { tcpCauses } from './dial.ts';

export interface Meaning {
  readonly hop: string;
  readonly signal: string;
  readonly cause: string;
  readonly blames: string;
}

export interface Said {
  readonly reason: string;
  readonly phase: string | null;
  readonly code: string | null;
}

const unreachable = (cause: string, blames = 'link:node-api'): Meaning => ({
  ...{ hop: 'node_runtime_api_reachability', signal: 'node_agent_api_unreachable' },
  ...{ cause, blames },
});
const tlsFailed = (cause: string, blames = 'link:node-api'): Meaning => ({
  ...{ hop: 'node_runtime_api_reachability', signal: 'node_agent_api_tls_failed' },
  ...{ cause, blames },
});
const refused = (cause: string, blames = 'file:node-cert'): Meaning => ({
  ...{ hop: 'node_recovery_status', signal: 'node_agent_auth_failed' },
  ...{ cause, blames },
});
const stale = (cause: string): Meaning => ({
  ...{ hop: 'node_heartbeat', signal: 'node_agent_heartbeat_stale' },
  ...{ cause, blames: 'unit:agent' },
});
const notReady = (signal: string, cause: string): Meaning => ({
  ...{ hop: 'node_readiness', signal, cause, blames: 'fs:/' },
});

/** A difference that could come from when a file was written is none. */
const clockSlackMs = 60_000;
const clockCause = (offsetMs: number): string => (offsetMs > 0 ? 'clock_ahead' : 'clock_behind');

/** Whatever the agent was about to do. */
const ofTheMachine: Readonly<Record<string, Meaning>> = {
  ENOSPC: notReady('disk_full', 'no_space'),
  EDQUOT: notReady('disk_full', 'quota'),
  EROFS: notReady('node_not_ready', 'fs_readonly'),
  EMFILE: stale('fd_exhausted'),
  ENFILE: stale('fd_exhausted'),
};

/** The server's certificate arrived, and did not verify. */
const untrusted: Readonly<Record<string, Meaning>> = {
  CERT_HAS_EXPIRED: tlsFailed('server_cert_expired'),
  CERT_NOT_YET_VALID: tlsFailed('server_cert_not_yet_valid'),
  ERR_TLS_CERT_ALTNAME_INVALID: tlsFailed('tls_name_mismatch'),
  DEPTH_ZERO_SELF_SIGNED_CERT: tlsFailed('tls_self_signed', 'file:ca-bundle'),
  INVALID_PURPOSE: tlsFailed('tls_wrong_usage'),
};
const anyUntrusted = tlsFailed('server_tls_untrusted', 'file:ca-bundle');

const ownCertificate: Readonly<Record<string, Meaning>> = {
  cert_expired: refused('cert_expired'),
  cert_not_yet_valid: refused('cert_not_yet_valid'),
  cert_missing: refused('cert_missing'),
  cert_unparsable: refused('cert_unparsable'),
  cert_mismatch: refused('key_mismatch'),
  cert_wrong_node: refused('identity_mismatch'),
  client_cert_rejected: refused('cert_untrusted_by_ingress'),
};

const byReason: Readonly<Record<string, Meaning>> = {
  identity_revoked: refused('identity_revoked_or_fenced'),
  endpoint_profile_drift: refused('endpoint_profile_drift', 'link:node-api'),
  recovery_token_missing: refused('recovery_token_missing'),
  recovery_enrollment_blocked: refused('recovery_enrollment_blocked', 'file:ca-bundle'),
  cert_untrusted_by_ingress: refused('cert_untrusted_by_ingress'),
  cert_expired: refused('cert_expired'),
  server_tls_untrusted: anyUntrusted,
  edge_rate_limited: {
    ...{ hop: 'node_recovery_status', signal: 'edge_rate_limited' },
    ...{ cause: 'edge_rate_limited', blames: 'edge' },
  },
};

/** For the agent a name that does not exist and a resolver that it may not ask are one code. */
const unresolved = unreachable('dns_failed', 'resolver');

function ofHandshake(code: string): Meaning {
  if (/WRONG_VERSION_NUMBER|PACKET_LENGTH/.test(code)) return unreachable('tls_to_plain');
  if (/HANDSHAKE_FAILURE|PROTOCOL|NO_CIPHER|NO_SHARED_CIPHER/.test(code))
    return tlsFailed('tls_version');
  if (code === 'ETIMEDOUT') return unreachable('tls_stall');
  return code === 'ECONNRESET' ? unreachable('tls_reset') : tlsFailed('tls_failed');
}

function ofAnswer(code: string): Meaning | null {
  if (/^http_5/.test(code)) return unreachable('api_down', 'service:api');
  if (code === 'ETIMEDOUT') return unreachable('app_stall');
  return code === 'ECONNRESET' ? unreachable('http_reset') : null;
}

/** Null for a reason that says nothing about why the agent cannot poll. */
export function meaningOf(said: Said, clockOffsetMs: number | null): Meaning | null {
  const { reason, phase } = said;
  const code = said.code ?? '';
  const offset = Math.abs(clockOffsetMs ?? 0) > clockSlackMs ? (clockOffsetMs ?? 0) : null;
  const machine = ofTheMachine[code];
  if (machine !== undefined) return machine;
  if (offset !== null && ['CERT_HAS_EXPIRED', 'CERT_NOT_YET_VALID'].includes(code))
    return tlsFailed(clockCause(offset), 'clock');
  if (offset !== null && ['cert_expired', 'cert_not_yet_valid'].includes(code))
    return refused(clockCause(offset), 'clock');
  if (reason !== 'recovery_enrollment_blocked' && untrusted[code] !== undefined)
    return untrusted[code];
  if (reason === 'task_poll_failed') {
    if (ownCertificate[code] !== undefined) return ownCertificate[code];
    if (phase === 'dns') return unresolved;
    if (phase === 'tcp') return unreachable(tcpCauses[code] ?? 'no_route');
    if (phase === 'tls') return ofHandshake(code);
    return phase === 'http' ? ofAnswer(code) : null;
  }
  return byReason[reason] ?? null;
}
