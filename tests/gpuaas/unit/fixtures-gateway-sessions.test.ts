// The life of a terminal through the gateway: its states, its frames, and how it ends.
import { expect, test } from 'vitest';
import { startGateway } from '../support/gateway-in-process.ts';
import { events, eventually, platform, ready, useGateway } from './fixtures-gateway-setup.ts';

useGateway();

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
