// The agent's own word: which record decides, and where its reason belongs.
import { describe, expect, it } from 'vitest';
import type { Policies } from '../../../harness/preflight/types.ts';
import { causes, resources } from '../../../harness/systems/gpuaas/causes.ts';
import { hops } from '../../../harness/systems/gpuaas/hops/index.ts';
import type { ReadModel } from '../../../harness/systems/gpuaas/probe/read-model.ts';
import { parseFacts, type Visit } from '../../../harness/systems/gpuaas/probe/visit.ts';
import { wordOf } from '../../../harness/systems/gpuaas/probe/word.ts';
import { meaningOf } from '../../../harness/systems/gpuaas/probe/word-table.ts';
import { signals } from '../../../harness/systems/gpuaas/signals.ts';

const fast: Policies = {
  'node.heartbeat_stale_after_seconds': 6,
  'node.poll_window_seconds': 1.5,
  'node.retry_backoff_max_seconds': 2,
};
const now = Date.parse('2026-11-19T12:00:00Z');
const current = {
  reason: 'task_poll_failed',
  phase: 'tcp',
  code: 'ECONNREFUSED',
  target: 'https://node-api.test:443/internal/v1/nodes/node-1/tasks/wait',
  at: new Date(now - 1000).toISOString(),
  count: 3,
};

/** What a node says whose agent (pid 77) wrote its record a second ago. */
const visitOf = (over: { facts?: string; current?: object; record?: object } = {}): Visit => {
  const record = { pid: 77, current: { ...current, ...over.current }, ...over.record };
  const lines = [
    ...['unit|MainPID|77', 'unit|SubState|running', `clock|epoch_ms|${now}`],
    ...['env|GPUAAS_API_URL|https://node-api.test', `record|json|${JSON.stringify(record)}`],
    over.facts ?? `record|written_ms|${now - 1000}`,
  ];
  return {
    ...{ ssh: { ok: true }, host: 'n', connectMs: 1, totalMs: 2, probeError: null },
    ...{ clockOffsetMs: 0, clockErrorMs: 5 },
    readRecord: async () => null,
    knock: async () => ({}),
    sections: parseFacts(lines.join('\n').replaceAll('|', '\t')),
  };
};
const lastContact = (secondsAgo: number | null): ReadModel => ({
  ...{ agentStatus: null, heartbeatAt: null, stale: false, reason: null, userState: null },
  ...{ evidence: [], lastPolls: [], declaredApi: null, declaredTerminal: null, profileName: null },
  ageMs: secondsAgo === null ? null : secondsAgo * 1000,
});
const silent = lastContact(8);

describe('the record decides', () => {
  it('when the running process wrote it after its last contact, about the address that it uses', () => {
    expect(wordOf(visitOf(), silent, fast)).toMatchObject({
      hop: 'node_runtime_api_reachability',
      signal: 'node_agent_api_unreachable',
      cause: 'tcp_refused',
      said: `task_poll_failed (tcp ECONNREFUSED) at ${current.target}`,
      doubt: null,
    });
    expect(wordOf(visitOf(), lastContact(null), fast)).not.toBeNull();
  });

  it.each<[string, Visit, ReadModel | null]>([
    ['of another process', visitOf({ record: { pid: 5 } }), silent],
    ['of a process that is gone', visitOf({ facts: 'unit|SubState|dead' }), silent],
    ['that says only that it lives', visitOf({ current: { reason: 'process_alive' } }), silent],
    ['with nothing wrong in it', visitOf({ record: { current: null } }), silent],
    [
      'of trouble that was over',
      visitOf({ record: { last_success_at: new Date(now).toISOString() } }),
      silent,
    ],
    [
      'about an address that it used before',
      visitOf({ current: { target: 'https://old.test/x' } }),
      silent,
    ],
    ['of an agent that polls', visitOf(), lastContact(2)],
    [
      'from before the last contact',
      visitOf({ facts: `record|written_ms|${now - 60_000}` }),
      lastContact(8),
    ],
    ['of one lost poll, with nobody to tell the contact', visitOf({ current: { count: 1 } }), null],
    ['whose age nobody can tell', visitOf({ facts: '' }), silent],
    ['with a reason of another loop', visitOf({ current: { reason: 'pty_failed' } }), silent],
  ])('but none %s', (_, visit, model) => {
    expect(wordOf(visit, model, fast)).toBeNull();
  });

  it('without certainty when it is old, and with it when it came again', () => {
    const old = visitOf({ facts: `record|written_ms|${now - 60_000}` });
    expect(wordOf(old, lastContact(70), fast)?.doubt).toBe('the record of the agent is 60 s old');
    expect(wordOf(visitOf(), null, fast)?.doubt).toBeNull();
  });

  it('about the recovery listener as well, and about files of the node', () => {
    const recovery = {
      ...{ reason: 'recovery_enrollment_blocked', phase: 'tls', code: 'CERT_HAS_EXPIRED' },
      target: 'https://recovery.test:8443/internal/v1/enroll',
    };
    const facts = `record|written_ms|${now}\nenv|GPUAAS_RECOVERY_API_URL|https://recovery.test:8443`;
    expect(wordOf(visitOf({ facts, current: recovery }), silent, fast)?.cause).toBe(
      'recovery_enrollment_blocked',
    );
    const file = { ...current, phase: 'app', code: 'cert_missing', target: '/etc/gpuaas/cert.pem' };
    expect(wordOf(visitOf({ current: file }), silent, fast)?.cause).toBe('cert_missing');
  });
});

describe('a reason belongs', () => {
  const day = 86_400_000;
  it.each<[string, string, string, number | null, string, string]>([
    ['task_poll_failed', 'dns', 'ENOTFOUND', null, 'node_runtime_api_reachability', 'dns_failed'],
    ['task_poll_failed', 'dns', 'EMFILE', null, 'node_heartbeat', 'fd_exhausted'],
    ['task_poll_failed', 'tls', 'ECONNRESET', null, 'node_runtime_api_reachability', 'tls_reset'],
    ['task_poll_failed', 'http', 'http_502', null, 'node_runtime_api_reachability', 'api_down'],
    [
      ...(['task_poll_failed', 'tls', 'ERR_SSL_SSLV3_ALERT_HANDSHAKE_FAILURE', null] as const),
      ...(['node_runtime_api_reachability', 'tls_version'] as const),
    ],
    ['task_poll_failed', 'app', 'ENOSPC', null, 'node_readiness', 'no_space'],
    [
      'task_poll_failed',
      'app',
      'cert_wrong_node',
      null,
      'node_recovery_status',
      'identity_mismatch',
    ],
    ['identity_revoked', 'http', 'x', null, 'node_recovery_status', 'identity_revoked_or_fenced'],
    [
      ...(['server_tls_untrusted', 'tls', 'CERT_HAS_EXPIRED', null] as const),
      ...(['node_runtime_api_reachability', 'server_cert_expired'] as const),
    ],
    [
      ...(['recovery_enrollment_blocked', 'tls', 'CERT_HAS_EXPIRED', 8 * day] as const),
      ...(['node_runtime_api_reachability', 'clock_ahead'] as const),
    ],
    [
      ...(['server_tls_untrusted', 'tls', 'CERT_NOT_YET_VALID', -8 * day] as const),
      ...(['node_runtime_api_reachability', 'clock_behind'] as const),
    ],
    ['cert_expired', 'app', 'cert_expired', day, 'node_recovery_status', 'clock_ahead'],
    ['cert_expired', 'app', 'cert_expired', 30_000, 'node_recovery_status', 'cert_expired'],
  ])('%s %s %s, clock off by %s: %s %s', (reason, phase, code, offset, hop, cause) => {
    expect(meaningOf({ reason, phase, code }, offset)).toMatchObject({ hop, cause });
  });

  it('nowhere when it says nothing about why the agent cannot poll', () => {
    for (const reason of ['task_result_post_failed', 'terminal_stream_failed', 'made_up'])
      expect(meaningOf({ reason, phase: 'tcp', code: 'ECONNREFUSED' }, null)).toBeNull();
    expect(
      meaningOf({ reason: 'task_poll_failed', phase: 'app', code: 'internal' }, null),
    ).toBeNull();
  });

  it('in words that the system declares, whatever the record says', () => {
    const reasons = [
      ...['task_poll_failed', 'server_tls_untrusted', 'endpoint_profile_drift', 'cert_expired'],
      ...['recovery_enrollment_blocked', 'identity_revoked', 'edge_rate_limited'],
      ...['cert_untrusted_by_ingress', 'recovery_token_missing'],
    ];
    const codes = [
      ...['ENOTFOUND', 'EAI_AGAIN', 'ECONNREFUSED', 'ETIMEDOUT', 'ECONNRESET', 'EHOSTUNREACH'],
      ...['EAFNOSUPPORT', 'EMFILE', 'ENOSPC', 'EROFS', 'EDQUOT', 'CERT_HAS_EXPIRED', 'http_503'],
      ...['CERT_NOT_YET_VALID', 'ERR_TLS_CERT_ALTNAME_INVALID', 'UNABLE_TO_VERIFY_LEAF_SIGNATURE'],
      ...['ERR_SSL_WRONG_VERSION_NUMBER', 'ERR_SSL_NO_PROTOCOLS_AVAILABLE', 'client_cert_rejected'],
      ...['cert_expired', 'cert_missing', 'cert_wrong_node', 'certificates_lost', 'internal'],
    ];
    for (const reason of reasons)
      for (const phase of ['dns', 'tcp', 'tls', 'http', 'app'])
        for (const code of codes)
          for (const offset of [null, day, -day]) {
            const meaning = meaningOf({ reason, phase, code }, offset);
            if (meaning === null) continue;
            const hop = hops.find(({ id }) => id === meaning.hop);
            expect(hop?.signals, `${reason} ${phase} ${code}`).toContain(meaning.signal);
            expect(signals[meaning.signal]?.causes, `${reason} ${phase} ${code}`).toContain(
              meaning.cause,
            );
            expect([causes[meaning.cause], resources[meaning.blames]]).not.toContain(undefined);
          }
  });
});
