// The table of signals against the seeds' names.
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { adviceOn } from '../../../harness/preflight/advice.ts';
import { defineSystem } from '../../../harness/systems/define.ts';
import { causes, resources } from '../../../harness/systems/gpuaas/causes.ts';
import gpuaas from '../../../harness/systems/gpuaas/index.ts';
import { signals } from '../../../harness/systems/gpuaas/signals.ts';

/** Seed 000's dashboard names, in its order. */
const dashboard = [
  'node_agent_heartbeat_stale',
  'node_agent_api_unreachable',
  'node_agent_api_tls_failed',
  'node_agent_auth_failed',
  'node_task_claim_failed',
  'node_task_result_post_failed',
  'node_agent_process_down',
  'disk_full',
  'node_observability_disk_pressure',
  'node_agent_binary_invalid',
  'node_ops_ssh_failed',
  'node_ops_access_unhealthy',
  'terminal_token_mint_failed',
  'terminal_public_route_missing',
  'terminal_gateway_upgrade_failed',
  'terminal_node_stream_timeout',
  'terminal_open_without_stream',
  'terminal_node_stream_mtls_failed',
  'terminal_pty_failed',
  'terminal_ui_connecting_stuck',
  'terminal_env_profile_drift',
];

describe('signals', () => {
  it('are the 21 of the seeds, and what is ours says so', () => {
    for (const name of dashboard) expect(signals[name]?.ours, name).toBeUndefined();
    expect(
      Object.keys(signals)
        .filter((name) => !dashboard.includes(name))
        .every((name) => signals[name]?.ours),
    ).toBe(true);
  });

  it('have an owner, a next action and a budget on both profiles', () => {
    const fast = {
      'node.heartbeat_stale_after_seconds': 6,
      'node.poll_window_seconds': 1.5,
      'node.retry_backoff_max_seconds': 2,
      'terminal.node_stream_timeout_seconds': 3,
      'terminal.pty_ready_timeout_seconds': 2,
    };
    for (const [name, signal] of Object.entries(signals)) {
      expect(signal.owner.length * signal.next.length, name).toBeGreaterThan(0);
      expect(signal.within(fast), name).toBeLessThanOrEqual(20);
      expect(signal.within({}), name).toBeGreaterThan(0);
      expect(new Set(signal.causes).size, name).toBe(signal.causes.length);
    }
  });

  it('give owners in the words of the catalogue', () => {
    const catalogue = JSON.parse(
      readFileSync(new URL('../../../scenarios/gpuaas/catalogue.json', import.meta.url), 'utf8'),
    ) as {
      domain: string;
      owner: string | null;
      expected_signal: string[] | null;
    }[];
    for (const { domain, owner, expected_signal: expected } of catalogue) {
      if (!owner || expected?.length !== 1 || !['node-agent', 'terminal'].includes(domain))
        continue;
      const own = signals[expected[0] ?? '']?.owner ?? '';
      expect(
        owner.startsWith(own) || own.startsWith(owner),
        `${expected[0]}: ${own} / ${owner}`,
      ).toBe(true);
    }
  });

  it('never advise to enrol anew for time, trust, profile or rate, nor to restart what says why', () => {
    const next = (signal: string, cause: string): string =>
      adviceOn(signals[signal]!, cause).next.replace(
        /(do not|not to) re-enroll.*|re-enrolling alone.*/i,
        '',
      );
    for (const [name, signal] of Object.entries(signals))
      for (const cause of signal.causes.filter((one) =>
        /^clock|profile|untrusted|rate|revoked|cloned|blocked/.test(one),
      ))
        expect(next(name, cause), `${name} ${cause}`).not.toMatch(/re-?enrol/i);
    for (const cause of ['task_poll_failed', 'fd_exhausted', 'no_recent_poll'])
      expect(next('node_agent_heartbeat_stale', cause)).not.toMatch(/^restart/i);
  });

  it('leave the command of the signal out where the cause has another next action', () => {
    const signal = signals.node_agent_heartbeat_stale!;
    expect(adviceOn(signal, 'process_down')).toEqual({
      owner: signal.owner,
      next: signal.next,
      command: 'systemctl restart gpuaas-node-agent',
    });
    expect(adviceOn(signal, 'fd_exhausted').command).toBeUndefined();
    expect(adviceOn(signal, null).next).toBe(signal.next);
  });

  it('have no advice on a cause that is none of theirs', () => {
    const signal = { ...signals.disk_full!, advice: { no_spaec: { next: 'Free space' } } };
    const ask = { ...gpuaas.ask, signals: { ...signals, disk_full: signal } };
    expect(() => defineSystem({ name: 'gpuaas', ask })).toThrow(
      'disk_full has advice on no_spaec, which is none of its causes',
    );
  });

  it('belong to hops, which are numbered by their place in the list', () => {
    const { hops } = gpuaas.asked;
    expect(hops).toHaveLength(15);
    expect(hops.map((hop) => hop.order)).toEqual(hops.map((_, index) => index + 1));
  });

  it('blame resources, and name causes, that are explained', () => {
    expect(Object.values(resources).every((text) => text.length > 0)).toBe(true);
    const named = Object.values(signals).flatMap((signal) => signal.causes);
    expect(named.filter((cause) => !causes[cause])).toEqual([]);
    expect(Object.keys(causes).every((cause) => named.includes(cause))).toBe(true);
  });
});
