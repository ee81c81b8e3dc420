// Actions of kind `http` against a server that answers as it should, and in ways that it should not.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { http } from '../../harness/faults/kit.ts';
import type { HttpAction } from '../../harness/records/action.ts';
import { targets as targetsSchema } from '../../harness/records/ledger.ts';
import { runHttp } from '../../harness/undo/run-http.ts';

let server: Server;
let folder: string;
const asked: { method: string; url: string; token: string; body: string }[] = [];

const bodyOf = async (incoming: IncomingMessage): Promise<string> => {
  let text = '';
  for await (const chunk of incoming) text += chunk;
  return text;
};

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'run-http-'));
  writeFileSync(join(folder, 'token'), 'tok-1234567890\n');
  const respond = async (incoming: IncomingMessage, answer: ServerResponse): Promise<void> => {
    const { method = '', url = '', headers } = incoming;
    asked.push({ method, url, token: headers.authorization ?? '', body: await bodyOf(incoming) });
    if (url === '/half') {
      answer.writeHead(200, { 'content-length': '100' }).write('{"state":');
      answer.socket?.destroy();
    } else if (url === '/text') answer.end('all is well');
    else if (url === '/thing') answer.end(JSON.stringify({ state: 'active', tags: ['a'] }));
    else answer.writeHead(Number(url.slice(1))).end('{"error":"no"}');
  };
  server = createServer((incoming, answer) => void respond(incoming, answer));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
});
afterAll(() => {
  server.close();
  rmSync(folder, { recursive: true, force: true });
});

const run = (action: HttpAction, endpoints?: Record<string, string>) =>
  runHttp(
    targetsSchema.parse({
      stack: 's',
      nodes: {},
      parts: {},
      endpoints: endpoints ?? {
        api: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
      },
      credentials: { operator: join(folder, 'token') },
    }),
    action,
  );
const as = { endpoint: 'api', credential: 'operator' };

describe('an action of kind http', () => {
  test('sends the token of the profile, and the body', async () => {
    asked.length = 0;
    const action = http('POST', '/201', { ...as, body: { why: 'drill' } });
    expect(await run(action)).toMatchObject({ code: 0 });
    expect(asked).toEqual([
      { method: 'POST', url: '/201', token: 'Bearer tok-1234567890', body: '{"why":"drill"}' },
    ]);
    expect(JSON.stringify(action)).not.toContain('tok-');
  });

  test('prints one value, and compares it', async () => {
    const read = http('GET', '/thing', { ...as, print: 'state' });
    expect(await run(read)).toMatchObject({ code: 0, stdout: 'active\n' });
    expect(await run({ ...read, expect: 'active' })).toMatchObject({ code: 0 });
    expect(await run({ ...read, expect: 'fenced' })).toMatchObject({ code: 1, stdout: 'active\n' });
  });

  test.each([401, 404, 500])(
    'an answer %i is an error of the action, with its words',
    async (code) => {
      expect(await run(http('POST', `/${code}`, as))).toEqual({
        code,
        stdout: '',
        stderr: `POST /${code} answered ${code}: {"error":"no"}`,
      });
    },
  );

  test.each([
    ['a value that is no word', http('GET', '/thing', { ...as, print: 'tags' }), /without "tags"/],
    ['an answer that is no JSON', http('GET', '/text', { ...as, print: 'state' }), /all is well/],
  ])('%s is an error, with what was answered', async (_, action, said) => {
    await expect(run(action)).rejects.toThrow(said);
  });

  test('half an answer: nobody knows whether the request was acted upon', async () => {
    await expect(run(http('GET', '/half', as))).rejects.toMatchObject({
      driver: 'http',
      code: 'lost',
    });
  });

  test('a closed port: the request was never sent', async () => {
    await expect(
      run(http('GET', '/thing', as), { api: 'http://127.0.0.1:9' }),
    ).rejects.toMatchObject({ driver: 'http', code: 'unreachable' });
  });

  test('a name that the profile does not have: which it has', async () => {
    await expect(run(http('GET', '/thing', { ...as, endpoint: 'apy' }))).rejects.toThrow(
      'the profile names no endpoint apy (api)',
    );
    await expect(run(http('GET', '/thing', { ...as, credential: 'root' }))).rejects.toThrow(
      'the profile names no credential root (operator)',
    );
  });
});
