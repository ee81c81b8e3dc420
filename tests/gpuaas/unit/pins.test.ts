// The scenario files against the ruling's pins, written down here from the ruling and not from the
// files.
import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { select } from '../../../harness/cli/select.ts';
import type { Scenario } from '../../../harness/records/scenario.ts';
import { invariants } from '../../../harness/systems/gpuaas/invariants.ts';

const P1 = { severity: 'P1' };
const P2 = { severity: 'P2' };
const temporary = { state: 'temporary' };
const terminalError = { state: 'normal', access: 'error' };
const api = (cause: string) => ({
  ...{ hop: 'node_runtime_api_reachability', signal: 'node_agent_api_unreachable', cause },
  ...{ ...P1, user: temporary },
});
const untrusted = {
  hop: 'node_runtime_api_reachability',
  signal: 'node_agent_api_tls_failed',
  cause: 'server_tls_untrusted',
  ...P1,
};
const pty = (cause: string) => ({
  hop: 'workload_terminal_startup_failure',
  signal: 'terminal_pty_failed',
  cause,
  ...P1,
  user: terminalError,
});
const operator = { state: 'operator_action_required' };

interface Pin {
  readonly hop: string;
  readonly signal?: string;
  readonly cause?: string;
  readonly severity: string;
  readonly user?: { readonly state: string; readonly access?: string };
  readonly history?: string;
}

/** Written by hand from the situations, one line for each file that acts out one of the first fourteen ids. */
const pins: Readonly<Record<string, Readonly<Record<string, Pin>>>> = {
  'node-agent-service-stopped': {
    'service-stopped': {
      hop: 'node_heartbeat',
      signal: 'node_agent_heartbeat_stale',
      cause: 'process_down',
      ...P2,
      user: temporary,
    },
  },
  'node-api-egress-blocked': {
    'api-egress-dropped': api('tcp_timeout'),
    'api-egress-rejected': api('tcp_refused'),
  },
  'node-api-dns-broken': { 'api-dns-broken': api('dns_nxdomain') },
  'node-api-stale-trust-bundle': {
    'stale-trust-bundle': { ...untrusted, user: temporary },
    'stale-trust-bundle-attached': { ...untrusted, user: operator },
  },
  'node-root-disk-full': {
    'root-disk-full': {
      hop: 'node_readiness',
      signal: 'disk_full',
      cause: 'no_space',
      ...P1,
      user: temporary,
    },
  },
  'node-task-result-post-blocked': {
    'task-result-post-blocked': {
      hop: 'node_task_roundtrip',
      signal: 'node_task_result_post_failed',
      ...P2,
      user: temporary,
    },
  },
  'node-api-auth-rejected-stale-cert': {
    'cert-expired-no-token': {
      hop: 'node_recovery_status',
      signal: 'node_agent_auth_failed',
      cause: 'recovery_token_missing',
      ...P1,
      user: operator,
    },
    'cert-expired-valid-token': { hop: 'none', ...P1, history: 'recovering' },
  },
  'node-ops-ssh-fails-agent-polls': {
    'ops-ssh-refused': {
      hop: 'node_ops_access',
      signal: 'node_ops_ssh_failed',
      cause: 'tcp_reset',
      ...P2,
      user: { state: 'normal' },
    },
  },
  'terminal-public-route-missing': {
    'public-route-missing': {
      ...{
        hop: 'terminal_public_route',
        signal: 'terminal_public_route_missing',
        cause: 'not_our_service',
      },
      ...{ ...P1, user: terminalError },
    },
  },
  'terminal-redis-session-binding-unavailable': {
    'redis-unavailable': {
      ...{
        hop: 'browser_terminal_ws',
        signal: 'terminal_gateway_upgrade_failed',
        cause: 'session_binding_unavailable',
      },
      ...{ ...P1, user: terminalError },
    },
  },
  'terminal-node-egress-blocked': {
    'node-egress-blocked': {
      ...{
        hop: 'node_terminal_reachability',
        signal: 'terminal_node_stream_timeout',
        cause: 'tcp_timeout',
      },
      ...{ ...P1, user: terminalError },
    },
  },
  'terminal-node-stream-mtls-rejected': {
    'node-stream-mtls-rejected': {
      ...{
        hop: 'gateway_node_stream',
        signal: 'terminal_node_stream_mtls_failed',
        cause: 'client_cert_untrusted',
      },
      ...{ ...P1, user: terminalError },
    },
  },
  'terminal-allocation-user-missing': { 'allocation-user-missing': pty('user_missing') },
  'terminal-pty-readiness-delayed': { 'pty-readiness-delayed': pty('pty_ready_timeout') },
};

const scenarios = await select({ patterns: ['scenarios/gpuaas'] });
const catalogue = JSON.parse(
  readFileSync(new URL('../../../scenarios/gpuaas/catalogue.json', import.meta.url), 'utf8'),
) as {
  id: string;
  domain: string;
  must_not: string[] | null;
}[];
const lastName = ({ record }: Scenario): string => record.scenario.split('/').at(-1) ?? '';
const actingOut = (id: string): Scenario[] =>
  scenarios.filter(({ record }) => record.source.includes(id));

test('the first fourteen are all there', () => {
  expect(Object.keys(pins)).toHaveLength(14);
  for (const id of Object.keys(pins)) expect(catalogue.map((entry) => entry.id)).toContain(id);
});

describe.each(Object.entries(pins))('%s', (id, files) => {
  test('has its files', () => {
    expect(actingOut(id).map(lastName).sort()).toEqual(Object.keys(files).sort());
  });

  test.each(Object.entries(files))('%s says what is pinned', (file, { user, history, ...pin }) => {
    const { expect: said, severity } = actingOut(id).find((one) => lastName(one) === file)!.record;
    const { page: _, ...seen } = said.user ?? {};
    const { hop, signal = null, cause = null } = said;
    expect({ hop, signal, cause, severity }).toEqual({ signal: null, cause: null, ...pin });
    expect(seen).toEqual(user ?? {});
    // A page that is looked at for every terminal error, and what heals by itself is read from the
    // history.
    expect(said.user?.page !== undefined).toBe(user?.access === 'error');
    expect(said.history).toEqual(history === undefined ? undefined : [history]);
  });

  test('watches every must-not of the catalogue, and that the database is let alone', () => {
    const texts = catalogue.find((entry) => entry.id === id)!.must_not ?? [];
    for (const { record } of actingOut(id)) {
      const { never } = record.expect;
      const watched = never.flatMap((name) => invariants[name]?.texts ?? []);
      expect(never, record.scenario).toContain('database_edited');
      expect(
        texts.filter((text) => !watched.includes(text)),
        record.scenario,
      ).toEqual([]);
    }
  });
});
