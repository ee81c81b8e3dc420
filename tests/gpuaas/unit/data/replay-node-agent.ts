// The situations of the node-agent domain as data.
import {
  type Failing,
  fail,
  noPolls,
  noStream,
  type Picture,
  pinned,
  type Situation,
  situation,
  stale,
  streamTimeout,
} from './replay.ts';

const unreachable = (cause: string, blames = 'link:node-api') =>
  fail('node_agent_api_unreachable', cause, blames);
const tlsFailed = (cause: string, blames: string) =>
  fail('node_agent_api_tls_failed', cause, blames);
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

const stopped = fail('node_agent_heartbeat_stale', 'process_down', 'unit:agent');
const untrusted = tlsFailed('server_tls_untrusted', 'file:ca-bundle');
const sshDown: Picture = { node_readiness: 'unknown', node_terminal_reachability: 'unknown' };

const lateOnTheWayToTheApi: Failing = {
  ...fail('terminal_node_stream_timeout', 'late', 'link:term'),
  charges: 'node_runtime_api_reachability',
};

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
  // Last, as what is seen of a situation at large is what others are combined with.
  cutFromApi(unreachable('tcp_timeout'), 'the agent alone, by its own word'),
  cutFromApi(untrusted, 'the agent alone, by its own word', 'node-api-stale-trust-bundle'),
  situation(
    'node-agent-pointed-at-public-edge',
    'node_recovery_status',
    auth('endpoint_profile_drift', 'link:node-api'),
    stale('task_poll_failed'),
    noPolls,
    'by its own word, the probe being accepted',
  ),
  // Polls get through now and then: what is late further on was charged to the way of the polls.
  situation(
    'node-api-egress-blocked',
    'node_runtime_api_reachability',
    unreachable('packet_loss'),
    { ...stale('no_recent_poll'), gateway_node_stream: lateOnTheWayToTheApi },
    { gateway_node_stream: lateOnTheWayToTheApi, workload_terminal_startup_failure: 'unknown' },
    'some packets are lost',
  ),
];
