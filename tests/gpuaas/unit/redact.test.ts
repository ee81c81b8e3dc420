import { expect, test } from 'vitest';
import { createRedactor, redactValue } from '../../../harness/records/redact.ts';
import gpuaas from '../../../harness/systems/gpuaas/index.ts';

const key = `-----BEGIN ${'PRIVATE'} KEY-----\nMIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQg\n-----END ${'PRIVATE'} KEY-----`;

test.each([
  ['a known token', 'say tok-1234567890 now', 'tok-1234567890'],
  ['a known token, URL-encoded', `x=${encodeURIComponent('tok/with+sign==')}`, 'tok%2Fwith'],
  [
    'a known token in base64',
    Buffer.from('tok-1234567890').toString('base64'),
    Buffer.from('tok-1234567890').toString('base64'),
  ],
  ['a bearer header', 'authorization: Bearer abcdefghijkl', 'abcdefghijkl'],
  ['a private key', `before ${key} after`, 'MIGHAgEA'],
  ['a private key in JSON', JSON.stringify({ key }), 'MIGHAgEA'],
  ['a private key cut in the middle', key.slice(0, 60), 'MIGHAgEA'],
  ['a database URL', 'postgres://gpuaas:s3cretpass@db:5432/x', 's3cretpass'],
  ['a cookie header', 'cookie: gpuaas_edge=abc123def', 'abc123def'],
  ['an env file', 'GPUAAS_ENROLLMENT_TOKEN=enr-abcdef123', 'enr-abcdef123'],
  ['a JSON field', '{"password":"hunter22222"}', 'hunter22222'],
  ['a token in a query', 'GET /x?a=1&token=q-abcdef123&b=2', 'q-abcdef123'],
  ['an access token in a form', 'access_token=at-abcdef123', 'at-abcdef123'],
  ['a token in JSON', '{"token":"jt-abcdef123","ttl":30}', 'jt-abcdef123'],
  ['a camel-case token in JSON', '{"accessToken": "ct-abcdef123"}', 'ct-abcdef123'],
  ['a password of digits in JSON', '{"password":12345678}', '12345678'],
  ['basic authorization', 'Authorization: Basic dXNlcjpodW50ZXI=', 'dXNlcjpodW50ZXI='],
  ['basic authorization in JSON', '{"authorization":"Basic dXNlcjpodW50ZXI="}', 'dXNlcjpodW50ZXI='],
  ['authorization without a scheme', 'authorization: raw-abcdef123', 'raw-abcdef123'],
  ['a flag', 'mysql --password hunter22222 -h db', 'hunter22222'],
  ['a flag with =', 'tool --api-token=hunter22222', 'hunter22222'],
  ['a flag as a list', '["tool","--password","hunter22222"]', 'hunter22222'],
  [
    'a private key in base64',
    `key: ${Buffer.from(key).toString('base64')}`,
    Buffer.from(key).toString('base64').slice(20, 60),
  ],
  [
    'a private key in base64, wrapped',
    Buffer.from(key).toString('base64').replace(/.{40}/g, '$&\n'),
    Buffer.from(key).toString('base64').slice(40, 80),
  ],
  [
    'a private key cut in a log of JSON lines',
    `{"m":"-----BEGIN ${'PRIVATE'} KEY-----\\nMIGHAgEAMBMG"}`,
    'MIGHAgEAMBMG',
  ],
  [
    'the tail of a database password with @',
    'postgres://gpuaas:s3cret@tail-of-it@db:5432/x',
    'tail-of-it',
  ],
  [
    'the tail of a database password with /',
    'postgres://gpuaas:s3cret/tail-of-it@db:5432/x',
    'tail-of-it',
  ],
  ['the tail of a JSON password with a comma', '{"password":"hunter2,tail-of-it"}', 'tail-of-it'],
  [
    'the tail of a JSON password with a quote',
    JSON.stringify({ password: 'hunter2"tail-of-it' }),
    'tail-of-it',
  ],
  [
    'a known token behind a user name in base64',
    Buffer.from('user:tok-1234567890').toString('base64'),
    'b2stMTIzNDU2Nzg5',
  ],
  [
    'a JSON field inside JSON',
    JSON.stringify(JSON.stringify({ stream_token: 'st-abcdef123' })),
    'st-abcdef123',
  ],
])('%s', (_name, text, secret) => {
  const redact = createRedactor(['tok-1234567890', 'tok/with+sign==']);
  const clean = redact(text);
  expect(text).toContain(secret);
  expect(clean).not.toContain(secret);
  expect(clean).toContain('[redacted');
});

test.each([
  ['a login cookie in a text', 'the edge wants gpuaas_edge=abc123def; ask again', 'abc123def'],
  ['a subprotocol token', 'gpuaas.terminal.v1, token.eyJhbGciOi.c2lnbmF0dXJl', 'eyJhbGciOi'],
])('%s is known by a form of the system', (_name, text, secret) => {
  expect(createRedactor([])(text)).toContain(secret);
  expect(createRedactor([], gpuaas.asked.secretForms)(text)).not.toContain(secret);
});

test('ordinary text stays as it is', () => {
  const redact = createRedactor(['', 'short'], gpuaas.asked.secretForms);
  for (const text of [
    '{"signal":"terminal_token_mint_failed","recovery":{"reason":"recovery_token_missing"},"short":1}',
    '{"token":null,"secret":true,"token_ttl_seconds":30,"operatorTokenFile":"operator-token"}',
    '{"has_token":"valid"} has_token=valid',
    'the recovery token: expired; --operator-token-file /state/operator-token --user-token-file /state/user-token',
    'https://api.gpuaas.test:21192/v1/nodes?owner=a@b and ssh://127.0.0.1:22/x@y',
    `-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE----- ${Buffer.from('-----BEGIN CERTIFICATE-----\nMIIB').toString('base64')}`,
  ])
    expect(redact(text)).toBe(text);
});

test('redacting JSON leaves JSON', () => {
  const redact = createRedactor(['tok-1234567890']);
  const value = {
    a: 'tok-1234567890',
    cookie: 'gpuaas_edge=abc',
    b: [`Bearer ${'x'.repeat(20)}`, key, key.slice(0, 60), Buffer.from(key).toString('base64')],
    password: null,
    token: 'a "quoted", one',
    nested: JSON.stringify({
      secret: 'in "two" layers',
      url: 'postgres://u:p@ss@h/d',
      argv: ['--password', 'hunter22'],
    }),
    digits: { password: 12345678 },
  };
  const clean = redact(JSON.stringify(value));
  expect(() => JSON.parse(clean)).not.toThrow();
  expect(Object.keys(JSON.parse(clean))).toEqual(Object.keys(value));
});

test('a record is redacted string by string, and by the name of the field', () => {
  const clean = redactValue(createRedactor(['tok-1234567890']), {
    reasons: [{ observed: 'said tok-1234567890' }],
    login: { password: 'pw,with "all"', tokens: 3 },
    exit: null,
    has_token: 'valid',
  });
  expect(clean).toEqual({
    reasons: [{ observed: 'said [redacted]' }],
    login: { password: '[redacted]', tokens: 3 },
    exit: null,
    has_token: 'valid',
  });
});
