// argv to the request record: every mistake at once, nothing read from disk.
import { describe, expect, it } from 'vitest';
import { parseArgv } from '../../../harness/preflight/argv.ts';
import type { Profile } from '../../../harness/records/profile.ts';
import gpuaas from '../../../harness/systems/gpuaas/index.ts';
import { argvFromProfile } from '../../../harness/systems/gpuaas/profile-argv.ts';

const system = gpuaas.asked;

const errorsOf = (...argv: string[]): readonly string[] => {
  const parsed = parseArgv(system, argv);
  return parsed.ok ? [] : parsed.errors;
};
const flagsOf = (...argv: string[]) => {
  const parsed = parseArgv(system, argv);
  if (!parsed.ok) throw new Error(parsed.errors.join('; '));
  return parsed.request.flags;
};

describe('the two command forms of seed 000', () => {
  it('are taken as they stand: with public addresses', () => {
    const argv =
      '--api-base https://aicloud-demo-api.core42.dev --terminal-base https://aicloud-demo-term.core42.dev --allocation-id a-1 --node-id n-1 --node-host 10.0.0.5';
    expect(errorsOf(...argv.split(' '))).toEqual([]);
  });

  it('are taken as they stand: with node-facing endpoints and their addresses', () => {
    const argv =
      '--api-base https://aicloud-kind-api.core42.dev --terminal-base https://aicloud-kind-term.core42.dev --node-id n-1 --node-host n1.local --node-user ubuntu --node-runtime-api-url https://node-api.gpuaas.test --node-runtime-resolve-address 10.1.0.5 --node-terminal-url https://term.gpuaas.test:18443 --node-terminal-resolve-address 10.1.0.5';
    expect(errorsOf(...argv.split(' '))).toEqual([]);
  });
});

describe('mistakes', () => {
  it('are all told at once', () => {
    const errors = errorsOf(
      'stray',
      '--api-bse',
      'https://x',
      '--node-ssh-port',
      '70000',
      '--terminal-base',
      'ftp://x',
      '--only',
      'node_hartbeat',
      '--json=yes',
      '--deadline',
      '0',
      '--allocation-id',
    );
    expect(errors.join('\n')).toMatchInlineSnapshot(`
      "found: "stray" | allowed: flags only, each beginning with "--"
      found: unknown flag --api-bse | allowed: profile, stack, node, json, explain, only, until, in-order, require-complete, deadline, api-base, terminal-base, allocation-id, node-id, node-host, node-user, node-ssh-port, known-hosts, ssh-key, agent-user, agent-unit, node-runtime-api-url, node-runtime-resolve-address, node-terminal-url, node-terminal-resolve-address, resolve-address, ca-file, operator-token-file, user-token-file, edge-cookie-file, provider-url, environment, compare-profile, attach, run-ws-smoke, browser, console-base | nearest: api-base
      found: --node-ssh-port "70000" | allowed: a port, 1 to 65535
      found: --terminal-base "ftp://x" | allowed: an http(s) URL without user name
      found: --json=yes | allowed: --json without a value
      found: --deadline "0" | allowed: seconds, more than 0 and at most 3600
      found: --allocation-id without a value | allowed: the allocation whose terminal is probed
      found: unknown hop "node_hartbeat" | allowed: allocation_binding, node_ops_access, node_readiness, node_runtime_api_reachability, node_recovery_status, node_heartbeat, node_task_roundtrip, terminal_token_mint, terminal_public_route, browser_terminal_ws, terminal_open_task, node_terminal_reachability, gateway_node_stream, workload_terminal_startup_failure, browser_terminal_page | nearest: node_heartbeat
      found: neither --api-base nor --node-host | allowed: at least one of them, or --profile"
    `);
  });

  it('name the nearest spelling', () => {
    expect(errorsOf('--api-bse', 'https://x', '--node-host', 'n')[0]).toContain(
      'nearest: api-base',
    );
    expect(errorsOf('--node-host', 'n', '--until', 'node_redines')[0]).toContain(
      'nearest: node_readiness',
    );
  });

  it('see flags that need each other', () => {
    expect(errorsOf()).toEqual([expect.stringContaining('neither --api-base nor --node-host')]);
    expect(errorsOf('--api-base', 'https://x')).toEqual([
      expect.stringContaining('neither --node-id nor --allocation-id'),
    ]);
    expect(errorsOf('--node-host', 'n', '--node-terminal-resolve-address', '1.2.3.4')).toEqual([
      expect.stringContaining('--node-terminal-url'),
    ]);
    expect(
      errorsOf('--node-host', 'n', '--only', 'node_readiness', '--until', 'node_readiness'),
    ).toEqual([expect.stringContaining('--only beside --until')]);
  });

  it('refuse what is no address, and credentials in a URL', () => {
    expect(errorsOf('--node-host', 'n', '--resolve-address', 'platform.local')).toEqual([
      expect.stringContaining('an IP address'),
    ]);
    expect(
      errorsOf('--node-host', 'n', '--node-id', 'x', '--api-base', 'https://me:secret@x'),
    ).toEqual([expect.stringContaining('without user name')]);
  });
});

describe('values', () => {
  it('may be attached, and the later flag wins', () => {
    expect(flagsOf('--node-host=a', '--node-host', 'b', '--json')).toEqual({
      'node-host': 'b',
      json: true,
    });
  });

  it('come from a profile as argv that parses', () => {
    const profile: Profile = {
      version: 2,
      system: 'gpuaas',
      stack: 's',
      disposable: true,
      environment: 'fast',
      policies: {},
      parts: {},
      endpoints: {
        api: 'https://api.test:1',
        terminal: 'https://term.test:1',
        provider: 'http://127.0.0.1:2',
      },
      connect: { address: '127.0.0.1', caFile: 'ca.crt' },
      credentials: { operator: 'o', user: 'u', 'edge-cookie': 'c' },
      nodes: {
        'node-2': {
          ssh: {
            host: '127.0.0.1',
            port: 2202,
            user: 'ubuntu',
            knownHostsFile: 'k',
            keyFile: 'i',
          },
          agent: { user: 'gpuaas', unit: 'a.service' },
          own: { allocation: 'alloc-2', allocationUser: 'g' },
          lifeline: { kind: 'docker', container: 'x' },
        },
      },
      own: {},
    };
    const flags = flagsOf(...argvFromProfile(profile, 'node-2'));
    expect(flags).toMatchObject({
      'node-id': 'node-2',
      'node-ssh-port': 2202,
      'allocation-id': 'alloc-2',
      'api-base': 'https://api.test:1',
      'provider-url': 'http://127.0.0.1:2',
      environment: 'fast',
    });
    expect(argvFromProfile(profile, null)).toEqual(argvFromProfile(profile, 'node-2'));
  });
});
