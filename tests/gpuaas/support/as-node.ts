// What a node can say to the platform without its agent: requests from inside the node, with the
// certificate that lies there.
import type { Json, World } from './world.ts';

interface NodeCall {
  readonly url: string;
  readonly method?: 'GET' | 'POST';
  readonly body?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** The recovery listener has a CA of its own, and asks for no certificate. */
  readonly ca?: 'ca-bundle.crt' | 'recovery-ca.crt';
  readonly certificate?: boolean;
}

export interface NodeAnswer {
  readonly status: number;
  readonly json: Json;
}

export const nodeApi = 'https://node-api.gpuaas.test/internal/v1/nodes';
export const enrolment = 'https://recovery.gpuaas.test:8443/internal/v1/enroll';
export const streamOf = (session: string): string =>
  `https://term.gpuaas.test:18443/internal/v1/terminal/sessions/${session}/stream`;
export const upgrade = {
  connection: 'Upgrade',
  upgrade: 'websocket',
  'sec-websocket-version': '13',
  'sec-websocket-key': Buffer.from('sixteen bytes ..').toString('base64'),
  'sec-websocket-protocol': 'gpuaas.node-stream.v1',
};

const prelude = `
  const https = require('node:https'), fs = require('node:fs');
  const read = (name) => fs.readFileSync('/etc/gpuaas/' + name);
  const call = ({ url, method = 'GET', body = '', headers = {}, ca = 'ca-bundle.crt', certificate = true }) => new Promise((resolve) => {
    const own = certificate ? { cert: read('cert.pem'), key: read('key.pem') } : {};
    const request = https.request(url, { method, agent: false, ca: read(ca), ...own, headers: { 'content-type': 'application/json', ...headers } });
    request.on('response', (response) => {
      let text = '';
      response.on('data', (chunk) => (text += chunk));
      response.on('end', () => resolve({ status: response.statusCode, text }));
    });
    request.on('upgrade', (response, socket, head) => resolve({ status: 101, text: '', socket, head }));
    request.on('error', (error) => resolve({ status: 0, text: error.code }));
    request.end(body);
  });
  const given = JSON.parse(process.argv[1]);
  const say = (answer) => { console.log(JSON.stringify(answer)); process.exit(); };`;

async function onNode(world: World, node: string, program: string, given: object): Promise<Json> {
  const ran = await world.docker(
    'exec',
    world.container(node),
    'node',
    '-e',
    prelude + program,
    '--',
    JSON.stringify(given),
  );
  if (ran.code !== 0) throw new Error(`${node}: ${ran.err}`);
  return JSON.parse(ran.out);
}

export async function asNode(world: World, node: string, wanted: NodeCall): Promise<NodeAnswer> {
  const { status, text } = await onNode(
    world,
    node,
    'call(given).then(({ status, text }) => say({ status, text }));',
    wanted,
  );
  try {
    return { status, json: JSON.parse(text) };
  } catch {
    return { status, json: { raw: text } };
  }
}

/** Frames of the gateway come unmasked and short; 8 is a close, with its code in front. */
const overlarge = `
  const binaryFrame = (length) => { const head = Buffer.alloc(14); head[0] = 0x82; head[1] = 0xff; head.writeUInt32BE(length, 6); return head; };
  const closeOf = (socket, head) => new Promise((resolve) => {
    let bytes = head;
    const look = () => {
      while (bytes.length >= 2 && bytes.length >= 2 + (bytes[1] & 127)) {
        if ((bytes[0] & 15) === 8) return resolve(bytes.readUInt16BE(2));
        bytes = bytes.subarray(2 + (bytes[1] & 127));
      }
    };
    socket.on('data', (chunk) => { bytes = Buffer.concat([bytes, chunk]); look(); });
    socket.on('close', () => resolve(null));
    socket.on('error', () => resolve(null));
    look();
  });
  const answer = (task, error) => call({ url: given.tasks + '/' + task.task_id + '/result', method: 'POST',
    body: JSON.stringify({ status: 'failed', result: null, error, correlation_id: task.correlation_id }) });
  (async () => {
    for (;;) {
      const { task } = JSON.parse((await call({ url: given.tasks + '/wait?window=20' })).text);
      if (task?.task_type === 'terminal.open') {
        const headers = { ...given.upgrade, authorization: 'Bearer ' + task.params.stream_token };
        const { status, socket, head } = await call({ url: given.stream.replace('SESSION', task.params.session_id), headers });
        socket?.write(binaryFrame(given.bytes));
        const close = socket ? await closeOf(socket, head) : null;
        await answer(task, 'stream_failed:frame_too_large');
        return say({ status, close });
      }
      if (task) await answer(task, 'agent_busy');
    }
  })();`;

/**
 * In the agent's place, while that is stopped: takes the next `terminal.open` and begins a frame of
 * so many bytes on its stream.
 */
export const sendOverlarge = (
  world: World,
  node: string,
  bytes: number,
): Promise<{ status: number; close: number | null }> =>
  onNode(world, node, overlarge, {
    tasks: `${nodeApi}/${node}/tasks`,
    stream: streamOf('SESSION'),
    upgrade,
    bytes,
  });
