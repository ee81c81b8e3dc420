import { describe, expect, it } from 'vitest';
import type { EvidenceItem, Situation } from '../../../fixtures/gpuaas/api/classify.ts';
import { classify } from '../../../fixtures/gpuaas/api/classify.ts';
import { CloneCorrelator } from '../../../fixtures/gpuaas/api/clones.ts';

const NOW = new Date('2026-01-01T12:00:00Z');
const ago = (seconds: number): Date => new Date(NOW.getTime() - seconds * 1000);
const seen = (
  source: EvidenceItem['source'],
  reason: string,
  secondsAgo: number,
  code: string | null = null,
): EvidenceItem => ({
  source,
  reason,
  at: ago(secondsAgo),
  code,
  detail: null,
});

const healthy: Situation = {
  now: NOW,
  lifecycle: 'active',
  cloneDetectedAt: null,
  lastContactAt: ago(1),
  lastEnrolmentAt: ago(600),
  lastEnrolmentReason: 'first',
  recoveriesSinceContact: 0,
  certNotAfter: ago(-3000),
  validRecoveryToken: true,
  lastResultAt: ago(5),
  expiredQueued: 0,
  resultsMissing: 0,
  rootUsedPercent: 40,
  diskPressurePercent: 90,
  staleAfterMs: 6000,
  pollWindowMs: 1500,
  evidence: [],
};
const stale: Situation = { ...healthy, lastContactAt: ago(20) };
const summary = (situation: Situation): string => {
  const { reason, userState, agentStatus } = classify(situation);
  return `${reason} ${userState} ${agentStatus}`;
};

describe('classified recovery status', () => {
  it.each<[string, Situation, string]>([
    ['a current heartbeat', healthy, 'null normal healthy'],
    ['silence', stale, 'agent_down temporary stale'],
    ['never seen', { ...healthy, lastContactAt: null }, 'node_agent_unreachable temporary unknown'],
    [
      'revoked',
      { ...healthy, lifecycle: 'revoked' },
      'identity_revoked_or_fenced operator_action_required auth_failed',
    ],
    [
      'cloned and fenced',
      { ...healthy, lifecycle: 'quarantined', cloneDetectedAt: NOW },
      'cloned_identity_detected security_action_required auth_failed',
    ],
    [
      'expired backlog after recovery',
      { ...healthy, expiredQueued: 2 },
      'task_backlog_stale temporary healthy',
    ],
    ['expired backlog in an outage', { ...stale, expiredQueued: 2 }, 'agent_down temporary stale'],
    [
      'the terminal gateway refuses the certificate that the ingress takes',
      {
        ...healthy,
        evidence: [seen('agent', 'terminal_stream_failed', 2, 'client_certificate_rejected')],
      },
      'null normal healthy',
    ],
    ['results missing', { ...healthy, resultsMissing: 1 }, 'null temporary task_result_failed'],
    ['disk under pressure', { ...healthy, rootUsedPercent: 97 }, 'null temporary healthy'],
    [
      'certificate over, token valid',
      { ...stale, certNotAfter: ago(1) },
      'cert_expired recovering auth_failed',
    ],
    [
      'certificate over, no token',
      { ...stale, certNotAfter: ago(1), validRecoveryToken: false },
      'recovery_token_missing operator_action_required auth_failed',
    ],
    [
      'enrolled again a moment ago',
      {
        ...stale,
        lastEnrolmentAt: ago(1),
        lastEnrolmentReason: 'cert_expired',
        recoveriesSinceContact: 1,
      },
      'cert_expired recovering auth_failed',
    ],
    [
      'enrolled again and not come back',
      {
        ...stale,
        lastEnrolmentAt: ago(8),
        lastEnrolmentReason: 'task_poll_failed',
        recoveriesSinceContact: 1,
      },
      'cert_untrusted_by_ingress operator_action_required auth_failed',
    ],
    [
      'enrolled again by hand and silent',
      {
        ...stale,
        lastEnrolmentAt: ago(8),
        lastEnrolmentReason: 'process_alive',
        recoveriesSinceContact: 1,
      },
      'agent_down temporary stale',
    ],
    [
      'a fresh certificate refused',
      {
        ...stale,
        lastEnrolmentAt: ago(1),
        lastEnrolmentReason: 'cert_expired',
        recoveriesSinceContact: 2,
      },
      'cert_untrusted_by_ingress operator_action_required auth_failed',
    ],
  ])('%s', (_name, situation, expected) => {
    expect(summary(situation)).toBe(expected);
  });

  it.each<[string, EvidenceItem, string]>([
    [
      'host does not trust the server',
      seen('operator', 'server_tls_untrusted', 2),
      'endpoint_profile_drift operator_action_required api_unreachable',
    ],
    [
      'host points elsewhere',
      seen('operator', 'endpoint_profile_drift', 2),
      'endpoint_profile_drift operator_action_required auth_failed',
    ],
    [
      'calls come by the public edge',
      seen('ingress', 'endpoint_profile_drift', 2),
      'endpoint_profile_drift operator_action_required auth_failed',
    ],
    [
      'no token on the host',
      seen('operator', 'recovery_token_missing', 2),
      'recovery_token_missing operator_action_required auth_failed',
    ],
    [
      'fresh certificate refused',
      seen('operator', 'recovery_enrollment_blocked', 2, 'fresh_certificate_rejected'),
      'cert_untrusted_by_ingress operator_action_required auth_failed',
    ],
    [
      'no room for a certificate',
      seen('operator', 'recovery_enrollment_blocked', 2, 'ENOSPC'),
      'agent_down temporary stale',
    ],
    [
      'slowed down by the edge',
      seen('operator', 'edge_rate_limited', 2),
      'agent_down temporary stale',
    ],
    [
      'cannot connect',
      seen('operator', 'task_poll_failed', 2),
      'agent_down temporary api_unreachable',
    ],
    [
      'older than the last contact',
      seen('operator', 'server_tls_untrusted', 30),
      'agent_down temporary stale',
    ],
  ])('stale, and %s', (_name, item, expected) => {
    expect(summary({ ...stale, evidence: [item] })).toBe(expected);
  });

  it('lets no evidence of an outage speak against a node that reports', () => {
    const evidence = [
      seen('operator', 'server_tls_untrusted', 0),
      seen('agent', 'endpoint_profile_drift', 0),
      seen('ingress', 'endpoint_profile_drift', 0),
    ];
    expect(classify({ ...healthy, evidence })).toMatchObject({
      reason: null,
      agentStatus: 'healthy',
      evidence: [],
    });
  });

  it('believes the agent about results until one arrives', () => {
    const evidence = [seen('agent', 'task_result_post_failed', 2)];
    expect(summary({ ...healthy, evidence })).toBe('null temporary task_result_failed');
    expect(summary({ ...healthy, evidence, lastResultAt: ago(1) })).toBe('null normal healthy');
  });

  it('says that tasks are refused rather than that their results are missing, until one arrives', () => {
    const evidence = [seen('agent', 'task_signature_rejected', 30, 'bad_signature')];
    const refused = { ...healthy, lastResultAt: ago(40), evidence };
    expect([refused, { ...refused, resultsMissing: 1 }].map(summary)).toEqual(
      Array(2).fill('null temporary auth_failed'),
    );
    expect(summary({ ...refused, lastResultAt: ago(1) })).toBe('null normal healthy');
    expect(
      summary({ ...refused, evidence: [seen('agent', 'task_signature_rejected', 1, 'expired')] }),
    ).toBe('null normal healthy');
  });

  it('forgets an expired certificate once a new one is issued', () => {
    const evidence = [seen('operator', 'recovery_token_missing', 3)];
    expect(
      summary({
        ...stale,
        evidence,
        lastEnrolmentAt: ago(1),
        recoveriesSinceContact: 1,
        lastEnrolmentReason: 'cert_expired',
      }),
    ).toBe('cert_expired recovering auth_failed');
  });
});

describe('clone correlator', () => {
  const feed = (ids: string, stepMs = 100): boolean[] => {
    const clones = new CloneCorrelator(6000);
    return [...ids].map((id, index) => clones.observe('node-1', id, index * stepMs));
  };
  it('accepts one instance, and one change of instance', () => {
    expect(feed('aaaa').concat(feed('aabbb'))).not.toContain(true);
  });
  it('finds two instances that take turns', () => {
    expect(feed('abab')).toEqual([false, false, true, true]);
    expect(feed('aaba').at(-1)).toBe(true);
  });
  it('forgets what is older than the window', () => {
    expect(feed('aba', 7000)).not.toContain(true);
  });
});
