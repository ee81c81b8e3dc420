// How far a trouble reaches, without anything that could be asked.
import { expect, it } from 'vitest';
import { conclude } from '../../../harness/systems/gpuaas/conclude.ts';
import type { Session } from '../../../harness/systems/gpuaas/probe/session.ts';

const session = {
  request: { argv: [], flags: {} },
  nodeId: () => Promise.resolve('node-1'),
  operator: () => Promise.resolve(undefined),
} as unknown as Session;

const scopeOf = async (hop: string | null, cause: string) => {
  const findings = new Map([[hop ?? '', { status: 'fail', summary: '', cause } as const]]);
  return (await conclude(session, { failed: hop, findings })).scope;
};

it('an API or a database that answers nobody is the trouble of the fleet, a node its own', async () => {
  expect(await scopeOf('node_runtime_api_reachability', 'api_down')).toBe('fleet');
  expect(await scopeOf('terminal_token_mint', 'database_unavailable')).toBe('fleet');
  expect(await scopeOf('node_runtime_api_reachability', 'tcp_timeout')).toBe('node');
  expect(await scopeOf('terminal_public_route', 'route_not_found')).toBe('node');
  expect(await scopeOf(null, '')).toBeNull();
});
