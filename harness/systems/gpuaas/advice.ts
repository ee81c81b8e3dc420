// What to do next, where one sentence for the whole signal would be wrong: wait, repair certificates,
// re-enroll, repair the endpoint profile, bootstrap anew, reactivate, or fix the control plane. Wrong
// time, trust, profile or rate is never mended by re-enrolling.
import type { OwnAdvice } from '../../preflight/types.ts';

type BySignal = Readonly<Record<string, Readonly<Record<string, OwnAdvice>>>>;

const syncTime: OwnAdvice = {
  owner: 'Node runtime',
  next: 'Set the clock of the node right first; then let certificates be checked again',
};
const repairProfile: OwnAdvice = {
  owner: 'Environment profile',
  next: 'Repair the endpoint profile: a bundle that rewrites endpoint and CA together; do not re-enroll',
  command: 'gpuaas-node-bootstrap apply-bundle FILE',
};
const fixControlPlane: OwnAdvice = {
  owner: 'Control plane / API',
  next: 'Fix the control plane: nodes wait by themselves and come back with it',
};
const repairServerCertificate: OwnAdvice = {
  owner: 'PKI / edge profile',
  next: 'Renew the certificate that the server shows; the trust of the nodes is right',
};
const repairNames: OwnAdvice = {
  owner: 'Environment networking',
  next: 'Add the private record of the name, or let the node write its names from the profile',
  command: 'gpuaas-node-bootstrap reconcile',
};
const repairResolver: OwnAdvice = {
  owner: 'Environment networking',
  next: 'Repair the resolver that the node asks, or the way to it; the endpoint is not to blame',
};
const raiseLimit: OwnAdvice = {
  owner: 'Node runtime',
  next: 'Raise the descriptor limit of the unit and find what holds them; the network is fine',
};
const mendLoss: OwnAdvice = {
  owner: 'Environment networking',
  next: 'Find where packets of this way are lost (interface, tunnel, firewall); the services are up',
};
const mendDelay: OwnAdvice = {
  owner: 'Environment networking',
  next: 'Find what makes this way slow (tunnel, route, bandwidth); the services are up',
};

const names = {
  dns_nxdomain: repairNames,
  dns_nodata: repairNames,
  dns_servfail: repairResolver,
  dns_refused: repairResolver,
  dns_server_down: repairResolver,
  dns_timeout: repairResolver,
};
const time = { clock_ahead: syncTime, clock_behind: syncTime };
const way = { packet_loss: mendLoss, slow_link: mendDelay };
const serverCertificate = {
  server_cert_expired: repairServerCertificate,
  server_cert_not_yet_valid: repairServerCertificate,
  tls_self_signed: repairServerCertificate,
  tls_wrong_usage: repairServerCertificate,
};

export const advice: BySignal = {
  node_agent_api_unreachable: {
    ...names,
    ...way,
    api_down: fixControlPlane,
    app_stall: fixControlPlane,
    http_reset: fixControlPlane,
    url_invalid: repairProfile,
    fd_exhausted: raiseLimit,
  },
  node_agent_api_tls_failed: {
    ...time,
    ...serverCertificate,
    tls_name_mismatch: {
      owner: 'Environment profile',
      next: 'Another server was reached: repair name, address or endpoint profile; trust is not to blame',
      command: 'gpuaas-node-bootstrap reconcile',
    },
  },
  node_agent_auth_failed: {
    ...time,
    cert_untrusted_by_ingress: {
      owner: 'Control plane / PKI',
      next: 'Repair the CA first: render one CA into API signing and ingress trust; re-enrolling alone gives certificates that are refused again',
    },
    endpoint_profile_drift: repairProfile,
    recovery_enrollment_blocked: {
      owner: 'PKI / node enrollment',
      next: 'Repair what keeps the node from enrolling (recovery trust, endpoint, room on the disk); the agent then enrols by itself',
    },
    recovery_token_missing: {
      owner: 'PKI / node enrollment',
      next: 'Issue an audited, node-bound re-enrollment bundle',
    },
    identity_revoked_or_fenced: {
      owner: 'Control plane / security',
      next: 'Find out why it was fenced; then reactivate the node, or bootstrap a new identity',
    },
    cloned_identity_detected: {
      owner: 'Control plane / security',
      next: 'Fence the copy and give it an identity of its own; do not re-enroll the original',
    },
    identity_mismatch: {
      owner: 'PKI / node enrollment',
      next: 'Give the node back its own identity: node id, certificate and key belong together',
    },
    cert_expired: {
      owner: 'PKI / node enrollment',
      next: 'With a valid recovery token wait, the agent enrols by itself; without one re-enroll',
    },
  },
  node_agent_heartbeat_stale: {
    no_recent_poll: {
      next: 'Read the journal of the agent; restart it only when nothing on its way fails',
      command: 'journalctl -u gpuaas-node-agent -n 50',
    },
    task_poll_failed: {
      next: 'Mend what the record of the agent names; a restart would only ask again',
      command: 'cat /var/lib/gpuaas/diagnostics/current.json',
    },
    process_frozen: {
      next: 'Find who stopped the process; then let it go on, or restart the agent',
      command: 'systemctl restart gpuaas-node-agent',
    },
    fd_exhausted: raiseLimit,
    never_polled: {
      owner: 'PKI / node enrollment',
      next: 'Bootstrap the node: it has never polled',
    },
  },
  terminal_node_stream_timeout: {
    ...names,
    ...time,
    ...way,
    ...serverCertificate,
    profile_drift: repairProfile,
    wrong_endpoint: repairProfile,
    url_invalid: repairProfile,
    server_tls_untrusted: {
      owner: 'PKI / edge profile',
      next: 'Refresh the trust bundle of the node, or repair the CA of the listener',
      command: 'gpuaas-node-bootstrap apply-bundle FILE',
    },
  },
};
