// What the edge and the ingress answer by themselves: the platform's envelope, and nothing to
// people who have not signed in.
import { connect } from 'node:tls';
import { describe, expect, test } from 'vitest';
import { type Json, World } from '../support/world.ts';

const world = new World();
const hosts = ['api', 'terminal', 'console', 'apps'];
const urlOf = (host: string): string =>
  world.profile.endpoints.console!.replace('//console.', `//${host}.`);
const cookie = { cookie: `gpuaas_edge=${world.secret(world.profile.credentials['edge-cookie'])}` };

interface Raw {
  status: number;
  product: string | undefined;
  json: Json;
}

const parse = (text: string): Raw => {
  const [head = '', body = ''] = text.split('\r\n\r\n', 2);
  const isJson = /^content-type: application\/json/im.test(head);
  const product = /^x-gpuaas-product: (\S+)/im.exec(head)?.[1];
  return { status: Number(head.split(' ', 2)[1]), product, json: isJson ? JSON.parse(body) : body };
};

/** A request as bytes: no client library would send these. */
function atEdge(host: string, request: string): Promise<Raw> {
  const at = new URL(urlOf(host));
  const options = {
    host: world.profile.connect.address ?? at.hostname,
    port: Number(at.port),
    servername: at.hostname,
  };
  return new Promise((resolve, reject) => {
    let text = '';
    const socket = connect({ ...options, ca: world.secret(world.profile.connect.caFile) }, () =>
      socket.write(request),
    );
    socket.on('data', (chunk) => {
      text += chunk.toString();
      // nginx lingers for a body that never comes; the answer is there long before it closes.
      const [head = '', body] = text.split('\r\n\r\n', 2);
      if (body?.length === Number(/^content-length: (\d+)/im.exec(head)?.[1])) socket.end();
    });
    socket.on('close', () => resolve(parse(text)));
    socket.on('error', reject);
    socket.setTimeout(8000, () => socket.destroy(new Error('no answer')));
  });
}

/** The same at the node-facing listeners, from the node, with its certificate or without one. */
async function atIngress(
  address: string,
  ca: string,
  request: string,
  certificate: string,
): Promise<Raw> {
  const line = `printf '${request.replaceAll('\r\n', '\\r\\n').replaceAll('%', '%%')}' | timeout 8 openssl s_client -quiet -ign_eof -connect ${address} -servername ${address.split(':')[0]} -CAfile /etc/gpuaas/${ca} ${certificate} 2>/dev/null || true`;
  return parse(await world.must('node-1', line));
}
const own = '-cert /etc/gpuaas/cert.pem -key /etc/gpuaas/key.pem';

const lines = (first: string, ...more: string[]): string =>
  [first, 'Host: platform', 'Connection: close', ...more, '', ''].join('\r\n');
const large = 'Content-Length: 200000';
const refusals: [string, number, string][] = [
  [lines('POST /v1/projects HTTP/1.1', large), 413, 'body_too_large'],
  [lines('GET /v1/nodes/%zz HTTP/1.1'), 400, 'bad_request'],
  [lines('TRACE / HTTP/1.1'), 405, 'method_not_allowed'],
  [lines(`GET /${'x'.repeat(9000)} HTTP/1.1`), 414, 'uri_too_long'],
  [lines('GET / HTTP/1.1', `x-large: ${'x'.repeat(9000)}`), 431, 'headers_too_large'],
];

describe('what nginx refuses by itself is in the envelope of the platform', () => {
  test.for(
    hosts.flatMap((host) =>
      refusals.map(([request, status, code]) => [host, status, code, request] as const),
    ),
  )('edge, %s: %i %s', async ([host, status, code, request]) => {
    const got = await atEdge(host, request);
    expect([got.status, got.json.error?.code, got.product]).toEqual([status, code, 'edge']);
    expect(got.json.error.message).toMatch(/^[a-z].{10,}/);
    expect(got.json.error.correlation_id).toMatch(/^[A-Za-z0-9._-]{8,80}$/);
  });

  test.for([
    ['node-api.gpuaas.test:443', 'ca-bundle.crt', own],
    ['recovery.gpuaas.test:8443', 'recovery-ca.crt', ''],
  ] as const)('ingress, %s', async ([address, ca, certificate]) => {
    for (const [request, status, code] of refusals.filter(([, known]) => known !== 413)) {
      const got = await atIngress(address, ca, request, certificate);
      expect([got.status, got.json.error?.code, got.product], code).toEqual([
        status,
        code,
        'ingress',
      ]);
    }
    const tooLarge = await atIngress(
      address,
      ca,
      lines('POST /internal/v1/enroll HTTP/1.1', large),
      certificate,
    );
    expect([tooLarge.status, tooLarge.json.error?.code, tooLarge.product]).toEqual([
      413,
      'body_too_large',
      'ingress',
    ]);
  });

  test('but a missing client certificate stays the word of nginx itself', async () => {
    const got = await atIngress(
      'node-api.gpuaas.test:443',
      'ca-bundle.crt',
      lines('GET / HTTP/1.1'),
      '',
    );
    expect([got.status, got.json]).toEqual([
      400,
      expect.stringMatching(/No required SSL certificate was sent/),
    ]);
  });
});

describe('the route of an app', () => {
  const app = (allocation: string, headers: Record<string, string>) =>
    world.call('GET', `${urlOf('apps')}/${allocation}/`, null, undefined, headers);

  test('nobody comes in who has not signed in at the edge', async () => {
    const got = await app('alloc-1', {});
    expect([got.status, got.headers.location]).toEqual([302, `${urlOf('console')}/login`]);
    const forged = await app('alloc-1', { cookie: 'gpuaas_edge=somebody' });
    expect(forged.status).toBe(302);
  });

  test.for(['alloc-1', 'alloc-2', 'alloc-b'])('%s answers for itself', async (allocation) => {
    const got = await app(allocation, cookie);
    expect([got.status, got.json.allocation_id]).toEqual([200, allocation]);
  });

  test.for(['alloc-released', 'alloc-none'])('%s has none', async (allocation) => {
    const got = await app(allocation, cookie);
    expect([got.status, got.json?.error.code]).toEqual([404, 'not_found']);
  });

  test('a new allocation is reached by the address that the API gives', async () => {
    const wanted = {
      allocation_id: 'alloc-edge',
      project_id: 'proj-a',
      node_id: 'node-2',
      username: 'gpu-edge',
      app_port: 8177,
    };
    const made = await world.api('POST', '/v1/allocations', world.operatorToken, wanted);
    expect(made.status).toBe(201);
    expect(made.json.app.route_url).toBe(`${urlOf('apps')}/alloc-edge/`);
    const answered = await world.until('the new app answers', 30, async () => {
      const got = await world.call('GET', made.json.app.route_url, null, undefined, cookie);
      return got.status === 200 ? got : null;
    });
    expect(answered.json).toMatchObject({ allocation_id: 'alloc-edge', app_id: 'app-alloc-edge' });
  });
});
