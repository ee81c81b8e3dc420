// Who the gateway lets in, and what it says to the others.
import { connect } from 'node:net';
import { expect, test } from 'vitest';
import { makeAuthority } from '../../../fixtures/gpuaas/pki/authority.ts';
import { clientFor } from '../support/gateway-certificates.ts';
import { platform, type Running, ready, useGateway } from './fixtures-gateway-setup.ts';

useGateway();

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
