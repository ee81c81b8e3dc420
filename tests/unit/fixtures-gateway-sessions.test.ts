import { connect } from 'node:net';
import { afterAll, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import { makeAuthority } from '../../fixtures/gpuaas/pki/authority.ts';
import { clientFor } from '../support/gateway-certificates.ts';
import { startGateway } from '../support/gateway-in-process.ts';

type Running = Awaited<ReturnType<typeof startGateway>>;
let platform: Running;

beforeAll(async () => {
  vi.spyOn(process.stdout, 'write').mockReturnValue(true);
  platform = await startGateway();
});
afterAll(() => platform.stop());
beforeEach(() => {
  Object.assign(platform.api, {
    status: 202,
    body: { task_id: 'task-1' },
    silent: false,
    calls: [],
  });
  platform.binding.down = false;
});

const eventually = async (condition: () => boolean): Promise<void> => {
  await expect.poll(condition, { timeout: 10_000, interval: 10 }).toBe(true);
};
const events = async (sid: string): Promise<string[]> => {
  const { body } = await platform.ask(`/v1/sessions/${sid}/observations`);
  const { observations } = body as { observations: { event: string; reason?: string }[] };
  return observations.map(({ event, reason }) =>
    reason === undefined ? event : `${event}:${reason}`,
  );
};
const ready = async () => {
  const { sid, token } = platform.mint();
  const browser = await platform.browser(token);
  const node = await platform.node(sid);
  node.socket.send('{"type":"pty_ready"}');
  await eventually(() => browser.frames.some((frame) => frame.type === 'ready'));
  return { sid, browser, node };
};

test('a terminal goes through its states in order, echoes, and ends with the status of the shell', async () => {
  const { sid, token } = platform.mint();
  const browser = await platform.browser(token);
  browser.socket.send(JSON.stringify({ type: 'resize', cols: 120, rows: 40 }));
  browser.socket.send(Buffer.from('typed before the shell is there'));
  const node = await platform.node(sid);
  await eventually(() => node.frames.length === 1);
  expect(node.frames).toEqual([{ type: 'resize', cols: 120, rows: 40 }]);
  expect(node.bytes).toEqual([]);
  node.socket.send('{"type":"pty_ready"}');
  await eventually(() => node.bytes.length === 1);
  node.socket.send(Buffer.from('output'));
  await eventually(() => browser.bytes.length === 1);
  node.socket.send('{"type":"exit","status":3}');
  expect(await browser.closed).toEqual({ code: 1000, reason: 'exit' });
  expect(browser.frames.map((frame) => frame.state ?? frame.type)).toEqual([
    'browser_ws_ready',
    'terminal_open_sent',
    'node_stream_connected',
    'pty_ready',
    'exit',
  ]);
  expect(browser.frames.every((frame) => frame.correlation_id === `corr-${sid}`)).toBe(true);
  expect(await events(sid)).toEqual([
    'browser_accepted',
    'open_sent',
    'node_stream_connected',
    'pty_ready',
    'closed:exit',
  ]);
  await eventually(() =>
    platform.api.calls.some(({ body }) => (body as { state?: string }).state === 'closed'),
  );
  const states = platform.api.calls
    .filter(({ url }) => url.endsWith('/state'))
    .map(({ body }) => (body as { state: string }).state);
  expect(states).toEqual([
    'browser_ws_ready',
    'terminal_open_sent',
    'node_stream_connected',
    'pty_ready',
    'closed',
  ]);
});

test('each refusal before 101 is typed', async () => {
  const { token } = platform.mint();
  const code = async (protocols: string[]) => {
    const { status, body } = await platform.browser('', protocols);
    return `${status} ${body.error?.code}`;
  };
  expect(await code([])).toBe('400 subprotocol_missing');
  expect(await code([`token.${token}`])).toBe('400 subprotocol_missing');
  expect(await code(['gpuaas.terminal.v1'])).toBe('401 terminal_token_missing');
  expect(await code(['gpuaas.terminal.v1', 'token.x.y'])).toBe('401 terminal_token_invalid');
  expect(await code(['gpuaas.terminal.v1', `token.${token}x`])).toBe('401 terminal_token_invalid');
  expect(
    await code(['gpuaas.terminal.v1', `token.${platform.mint({ exp: 1_700_000_000 }).token}`]),
  ).toBe('401 terminal_token_expired');
  expect(await code(['gpuaas.terminal.v1', `token.${token}`])).toBe('101 undefined');
  expect(await code(['gpuaas.terminal.v1', `token.${token}`])).toBe('409 terminal_token_used');
  platform.binding.down = true;
  expect(await code(['gpuaas.terminal.v1', `token.${platform.mint().token}`])).toBe(
    '503 session_binding_unavailable',
  );
  expect(await platform.ask('/ws/terminal')).toMatchObject({
    status: 426,
    body: { error: { code: 'upgrade_required' } },
  });
});

test('the owner of a token is told afterwards why its upgrade was refused', async () => {
  const why = async (token: string | null) => {
    const { status, body } = await platform.ask('/v1/refusal', token);
    const { error } = body as { error?: { code: string } };
    return `${status} ${error?.code ?? 'no refusal'}`;
  };
  const { token } = platform.mint();
  expect(await why(token)).toBe('200 no refusal');
  platform.binding.down = true;
  await platform.browser(token);
  expect(await why(token)).toBe('503 session_binding_unavailable');
  platform.binding.down = false;
  await platform.browser(token);
  expect(await why(token)).toBe('200 no refusal');
  await platform.browser(token);
  expect(await why(token)).toBe('409 terminal_token_used');
  const old = platform.mint({ exp: 1_700_000_000 }).token;
  await platform.browser(old);
  expect(await why(old)).toBe('401 terminal_token_expired');
  expect(await why(`${token}x`)).toBe('401 terminal_token_invalid');
  expect(await why(null)).toBe('401 terminal_token_missing');
});

test('no node stream: a frame, a close with the reason, and a late stream hears that it is late', async () => {
  const { sid, token } = platform.mint();
  const browser = await platform.browser(token);
  expect(await browser.closed).toEqual({ code: 4408, reason: 'node_stream_timeout' });
  expect(browser.frames.at(-1)).toMatchObject({
    type: 'error',
    code: 'node_stream_timeout',
    session_id: sid,
  });
  expect(await platform.node(sid)).toMatchObject({
    status: 410,
    body: { error: { code: 'node_stream_late' } },
  });
  expect(await events(sid)).toEqual([
    'browser_accepted',
    'open_sent',
    'closed:node_stream_timeout',
    'node_stream_refused',
  ]);
});

test('a stream without a shell: pty_ready_timeout; a failed one: its reason', async () => {
  const first = platform.mint();
  const silent = await platform.browser(first.token);
  await platform.node(first.sid);
  expect(await silent.closed).toEqual({ code: 4409, reason: 'pty_ready_timeout' });
  const second = platform.mint();
  const failed = await platform.browser(second.token);
  const node = await platform.node(second.sid);
  node.socket.send(
    JSON.stringify({ type: 'pty_failed', reason: 'user_missing', detail: 'no such user' }),
  );
  expect(await failed.closed).toEqual({ code: 4410, reason: 'pty_failed' });
  expect(failed.frames.at(-1)).toMatchObject({ code: 'pty_failed', reason: 'user_missing' });
});

test.each([
  [503, {}, 4406, 'terminal_open_not_enqueued'],
  [202, {}, 4406, 'terminal_open_not_enqueued'],
  [409, { error: { code: 'allocation_not_active' } }, 4407, 'terminal_open_failed'],
  [404, { error: { code: 'session_not_found' } }, 4407, 'terminal_open_failed'],
])('an open that the api answers with %i %j is said at once', async (status, body, close, code) => {
  Object.assign(platform.api, { status, body });
  const { sid, token } = platform.mint();
  const browser = await platform.browser(token);
  expect(await browser.closed).toEqual({ code: close, reason: code });
  expect(await events(sid)).toEqual(['browser_accepted', 'open_failed', `closed:${code}`]);
});

test('a node that is quicker than the answer of the api is not lost', async () => {
  platform.api.silent = true;
  const { sid, token } = platform.mint();
  const browser = await platform.browser(token);
  const node = await platform.node(sid);
  expect(node.status).toBe(101);
  node.socket.send('{"type":"pty_ready"}');
  await eventually(() => browser.frames.some((frame) => frame.type === 'ready'));
  expect(browser.frames.map((frame) => frame.state)).toEqual([
    'browser_ws_ready',
    'terminal_open_sent',
    'node_stream_connected',
    'pty_ready',
  ]);
  browser.socket.close();
});

test('a client certificate is judged at the upgrade, and kept with serial, SAN and reason', async () => {
  const { sid, token } = platform.mint();
  const browser = await platform.browser(token);
  const stranger = await clientFor(await makeAuthority('Test other CA'), 'node-1');
  const refused = async (client: Parameters<Running['node']>[1]) => {
    const { status, body } = await platform.node(sid, client);
    return `${status} ${body.error?.code}`;
  };
  expect(await refused(null)).toBe('401 client_certificate_missing');
  expect(await refused(stranger)).toBe('403 client_certificate_rejected');
  expect(await refused(await clientFor(platform.nodeCa, 'node-1', -60_000))).toBe(
    '403 client_certificate_rejected',
  );
  expect(await refused(await clientFor(platform.nodeCa, 'node-2'))).toBe(
    '403 client_identity_mismatch',
  );
  const { refusals } = (await platform.ask('/v1/tls-refusals')).body as {
    refusals: Record<string, unknown>[];
  };
  expect(refusals.slice(-4).map((one) => one.authorization_error)).toEqual([
    'client_certificate_missing',
    'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
    'CERT_HAS_EXPIRED',
    'client_identity_mismatch',
  ]);
  expect(refusals.at(-1)).toMatchObject({
    san: 'URI:gpuaas:node:node-2',
    serial: '4A5B6C',
    session_id: sid,
  });
  browser.socket.close();
});

test('a stream needs its own token, its subprotocol, its session, and may exist once', async () => {
  const { sid, node, browser } = await ready();
  const other = platform.mint();
  const refused = async (...given: Parameters<Running['node']>) => {
    const { status, body } = await platform.node(...given);
    return `${status} ${body.error?.code}`;
  };
  expect(await refused(sid)).toBe('409 node_stream_duplicate');
  expect(await refused(sid, undefined, other.token)).toBe('401 stream_token_invalid');
  expect(await refused('s-nobody-knows')).toBe('404 session_not_found');
  const open = await platform.browser(other.token);
  expect(await refused(other.sid, undefined, undefined, ['other'])).toBe('400 subprotocol_missing');
  for (const peer of [node, browser, open]) peer.socket.terminate();
});

test('bad frames are answered and the terminal goes on; an oversized one ends it', async () => {
  const { sid, browser, node } = await ready();
  const bad = [
    '{',
    '[1]',
    '{"type":"reboot"}',
    '{"type":"resize","cols":0,"rows":10}',
    '{"type":"resize","cols":80,"rows":301}',
  ];
  for (const text of [...bad, '{"type":"resize","cols":"80","rows":24}']) browser.socket.send(text);
  await eventually(() => browser.frames.filter((frame) => frame.code === 'bad_frame').length === 6);
  expect(node.frames).toEqual([]);
  browser.socket.send(Buffer.from('still here'));
  await eventually(() => node.bytes.length === 1);
  browser.socket.send(Buffer.alloc(64 * 1024 + 1));
  browser.socket.send(Buffer.from('too late'));
  expect(await browser.closed).toEqual({ code: 1009, reason: 'frame_too_large' });
  await node.closed;
  expect(node.bytes.map(String)).toEqual(['still here']);
  expect((await events(sid)).at(-1)).toBe('closed:frame_too_large');
});

test('each side hears when the other one is gone', async () => {
  const first = await ready();
  first.browser.socket.terminate();
  expect((await first.node.closed).reason).toBe('browser_closed');
  expect(first.node.frames.at(-1)).toEqual({ type: 'close' });
  const second = await ready();
  second.node.socket.terminate();
  expect(await second.browser.closed).toEqual({ code: 4411, reason: 'node_stream_lost' });
});

test('a reader that stops slows the writer down and loses nothing', async () => {
  const { browser, node } = await ready();
  browser.socket.pause();
  const chunk = Buffer.alloc(64 * 1024, 7);
  const chunks = 400;
  for (let sent = 0; sent < chunks; sent += 1) node.socket.send(chunk);
  await new Promise((resolve) => setTimeout(resolve, 300));
  // What the gateway has not taken is still with the writer.
  expect(node.socket.bufferedAmount).toBeGreaterThan(1024 * 1024);
  browser.socket.resume();
  await eventually(() => browser.bytes.length >= chunks);
  expect(browser.bytes.reduce((sum, bytes) => sum + bytes.length, 0)).toBe(chunks * chunk.length);
  browser.socket.terminate();
});

test('what operators may read needs their token', async () => {
  expect(await platform.ask('/healthz', null)).toEqual({
    status: 200,
    product: 'gateway',
    body: { status: 'ok', part: 'gateway' },
  });
  expect((await platform.ask('/', null)).status).toBe(404);
  expect((await platform.ask('/v1/tls-refusals', null)).status).toBe(401);
  expect((await platform.ask('/v1/tls-refusals', 'usr_someone')).status).toBe(403);
  expect((await platform.ask('/v1/tls-refusals?since=yesterday')).status).toBe(400);
  expect((await platform.ask('/v1/sessions/s-unknown/observations')).body).toEqual({
    session_id: 's-unknown',
    observations: [],
  });
});

test('what is no request at all is refused in the envelope too', async () => {
  const answerTo = async (bytes: string): Promise<string> => {
    const socket = connect(platform.browserPort, '127.0.0.1', () => socket.write(bytes));
    let text = '';
    for await (const chunk of socket) text += String(chunk);
    const [head = '', body = '{}'] = text.split('\r\n\r\n', 2);
    const { error } = JSON.parse(body) as { error: { code: string; correlation_id: string } };
    expect(head).toContain('x-gpuaas-product: gateway');
    expect(head).toContain(`x-correlation-id: ${error.correlation_id}`);
    return `${head.split(' ', 2)[1]} ${error.code}`;
  };
  expect(await answerTo('this is not HTTP\r\n\r\n')).toBe('400 bad_request');
  expect(await answerTo(`GET / HTTP/1.1\r\nx-large: ${'x'.repeat(20_000)}\r\n\r\n`)).toBe(
    '431 headers_too_large',
  );
});

test('a gateway that leaves says so on both sides', async () => {
  const leaving = await startGateway();
  const { sid, token } = leaving.mint();
  const [browser, node] = [await leaving.browser(token), await leaving.node(sid)];
  leaving.gateway.leave();
  expect(await browser.closed).toEqual({ code: 1001, reason: 'going_away' });
  expect((await node.closed).reason).toBe('going_away');
  expect((await leaving.browser(leaving.mint().token)).status).toBe(503);
  leaving.stop();
});
