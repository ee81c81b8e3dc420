// Bad input against the running parts: a clear refusal with a code, nothing lost, nobody crashed.
import { afterAll, describe, expect, test } from 'vitest';
import { refusalOf } from '../support/upgrade.ts';
import { type Json, World } from '../support/world.ts';

const world = new World();
const post = (path: string, token: string | null, body: unknown) =>
  world.api('POST', path, token, body);

describe('public API', () => {
  test.for([
    ['no token', null, '/v1/allocations/alloc-1/terminal-token', 401, 'unauthenticated'],
    [
      'unknown token',
      'not-a-token',
      '/v1/allocations/alloc-1/terminal-token',
      401,
      'unauthenticated',
    ],
  ] as const)('%s is refused', async ([, token, path, status, code]) => {
    const got = await post(path, token, {});
    expect([got.status, got.json.error.code]).toEqual([status, code]);
    expect(got.json.error.correlation_id).toBe(got.headers['x-correlation-id']);
  });

  test('a token that is wrong leaves a row, one that is missing does not', async () => {
    const since = new Date().toISOString();
    const path = '/v1/allocations/alloc-2/terminal-token';
    await post(path, null, {});
    await post(path, 'not-a-token', {});
    const { rows } = (await world.api('GET', `/v1/audit?action=terminal.token&since=${since}`))
      .json;
    expect(rows.filter((row: Json) => row.target === 'alloc-2')).toEqual([
      expect.objectContaining({
        actor_type: 'anonymous',
        actor_id: 'invalid-token',
        result: 'denied',
        reason: 'unauthenticated',
      }),
    ]);
  });

  test("another tenant's allocation is refused and audited", async () => {
    const correlation = `bad-input-${Date.now()}`;
    const got = await world.api(
      'POST',
      '/v1/allocations/alloc-1/terminal-token',
      world.tokenOf('other-user'),
      {},
      { 'x-correlation-id': correlation },
    );
    expect([got.status, got.json.error.code]).toEqual([403, 'forbidden']);
    const rows = await world.api(
      'GET',
      `/v1/audit?since=${new Date(Date.now() - 60_000).toISOString()}`,
    );
    expect(
      rows.json.rows.some((row: Json) => row.target.includes('alloc-1') && row.result === 'denied'),
    ).toBe(true);
  });

  test('a released allocation has no terminal', async () => {
    const got = await post('/v1/allocations/alloc-released/terminal-token', world.userToken, {});
    expect([got.status, got.json.error.code]).toEqual([409, 'allocation_not_active']);
  });

  test('malformed JSON, an oversized body and unknown task types are refused', async () => {
    const malformed = await post('/v1/nodes/node-1/tasks', world.operatorToken, '{"task_type":');
    expect([malformed.status, malformed.json.error.code]).toEqual([400, 'malformed_json']);
    const oversized = await post('/v1/nodes/node-1/tasks', world.operatorToken, {
      task_type: 'x'.repeat(70_000),
    });
    expect(oversized.status).toBe(413);
    const unknown = await post('/v1/nodes/node-1/tasks', world.operatorToken, {
      task_type: 'shell.run',
      params: {},
    });
    expect([unknown.status, unknown.json.error.code]).toEqual([400, 'unknown_task_type']);
  });

  test('node paths at the public edge carry no identity', async () => {
    const got = await world.api(
      'GET',
      '/internal/v1/nodes/node-1/tasks/wait?claim=false',
      null,
      undefined,
      {
        'x-ssl-client-verify': 'SUCCESS',
      },
    );
    expect([got.status, got.json.error.code, got.json.error.message]).toEqual([
      403,
      'node_identity_revoked',
      'node identity revoked',
    ]);
  });
});

describe('gateway', () => {
  const open = (protocols: string[]) =>
    world.socket(`${world.profile.endpoints.terminal}/ws/terminal`, protocols);
  const refused = (protocols: string[]) => refusalOf(open(protocols));

  test('tokens: missing, forged, used twice', async () => {
    expect(await refused(['gpuaas.terminal.v1'])).toEqual([401, 'terminal_token_missing']);
    expect(await refused(['gpuaas.terminal.v1', 'token.abc.def'])).toEqual([
      401,
      'terminal_token_invalid',
    ]);
    const { json } = await post('/v1/allocations/alloc-1/terminal-token', world.userToken, {});
    const first = await open(['gpuaas.terminal.v1', `token.${json.token}`]);
    await first.close();
    expect(await refused(['gpuaas.terminal.v1', `token.${json.token}`])).toEqual([
      409,
      'terminal_token_used',
    ]);
    const denied = async () =>
      (
        (await world.api('GET', '/v1/audit?action=terminal.connect')).json.rows as {
          target: string;
          result: string;
          reason: string;
        }[]
      ).map(({ target, result, reason }) => `${target} ${result} ${reason}`);
    const expected = [
      'unknown-allocation denied terminal_token_invalid',
      'alloc-1 denied terminal_token_used',
    ];
    await world.until('both are audited', 5, async () => {
      const rows = await denied();
      return expected.every((row) => rows.includes(row));
    });
  });

  test('unknown resize values are answered and the terminal lives on; an oversized frame closes it', async () => {
    const terminal = await world.terminal('node-1');
    const says = (type: string) =>
      terminal.waitFor((frames) =>
        frames.find((frame) => frame.kind === 'text' && JSON.parse(frame.text).type === type),
      );
    await says('ready');
    terminal.sendControl({ type: 'resize', cols: -4, rows: 'many' });
    expect(JSON.parse((await says('error')).text).code).toBe('bad_frame');
    terminal.send('echo $((6*7))x\n');
    await terminal.waitFor((frames) =>
      frames.some((frame) => frame.kind === 'binary' && frame.text.includes('42x')),
    );
    terminal.send('x'.repeat(70_000));
    await world.until('closed', 5, async () => terminal.closed() !== null);
    expect(terminal.closed()).toEqual({ code: 1009, reason: 'frame_too_large' });
  });
});

afterAll(async () => {
  expect(await world.green()).toBeNull();
});
