// Ways that still lead there: packets that are lost, answers that come late, little room.
import { request } from '../../../harness/drivers/http.ts';
import type { Right } from '../support/named.ts';
import type { Row, Witness } from '../support/row.ts';
import { by, nodeSays, terminal } from '../support/witnesses.ts';
import type { World } from '../support/world.ts';
import * as places from './places.ts';

/** By Toxiproxy's own port, as an operator of a test platform would. */
async function atProxy(world: World, method: string, path: string, body?: object): Promise<string> {
  const answer = await request({
    url: `${world.profile.links?.toxiproxy}${path}`,
    method,
    ...(body !== undefined && { body: JSON.stringify(body) }),
    // An answer that is on its way is waited for before a toxic goes.
    timeoutMs: 20_000,
  });
  if (answer.status >= 400) throw new Error(`toxiproxy ${path}: ${answer.status} ${answer.body}`);
  return answer.body;
}
interface Toxic {
  readonly type: string;
  readonly stream?: 'upstream' | 'downstream';
  readonly attributes: Readonly<Record<string, number>>;
}
const toxicOn = (name: string, link: string, toxic: Toxic, felt: Witness, right: Right): Row => ({
  name,
  right,
  breakIt: (world) =>
    atProxy(world, 'POST', `/proxies/${link}/toxics`, { name: 'hand', toxicity: 1, ...toxic }),
  putBack: (world) => atProxy(world, 'DELETE', `/proxies/${link}/toxics/hand`),
  witnesses: [
    by('links', `${link} has the toxic`, async (world) =>
      /"hand"/.test(await atProxy(world, 'GET', `/proxies/${link}`)),
    ),
    felt,
  ],
});

const api = { host: 'node-api.gpuaas.test', port: 443 };
const listener = { host: 'term.gpuaas.test', port: 18443 };

const longHandshake = ({ host, port }: typeof api): Witness =>
  nodeSays(
    `a handshake with ${host} takes a second and more`,
    `began=$(date +%s%N); openssl s_client -connect ${host}:${port} < /dev/null > /dev/null 2>&1; echo "took $((($(date +%s%N) - began) / 1000000)) ms"`,
    /took \d{4,} ms/,
  );
/** A request for one has some 800 bytes; without the toxic it takes less than a tenth of a second. */
const longTerminal = by('gateway', 'a terminal takes half a second and more', async (world) => {
  const began = performance.now();
  const { code } = await world.tryTerminal('node-1');
  return code === 'ready' && performance.now() - began > 500;
});

/** Of sixteen connections one at least did not come about at the first try: that repeats after 1 s. */
const lostFirstTry = ({ host, port }: typeof api): Witness =>
  nodeSays(
    `first packets to ${host} are lost`,
    `for try in $(seq 16); do timeout 0.9 bash -c 'exec 3<>/dev/tcp/${host}/${port}' || echo "lost, $?"; done`,
    /lost, 124/,
  );

const lossOn = (name: string, way: typeof api, probability: number, right: Right): Row => {
  const rule = `-p tcp --dport ${way.port} -m statistic --mode random --probability ${probability} -j DROP`;
  return {
    name,
    right,
    // Half of all polls come through.
    within: 60,
    breakIt: (world) => world.must('node-1', `iptables -I OUTPUT ${rule}`),
    putBack: (world) => world.must('node-1', `iptables -D OUTPUT ${rule}`),
    witnesses: [
      lostFirstTry(way),
      by('kernel', 'the rule has dropped packets', async (world) =>
        /^\s*[1-9].*statistic/m.test(await world.must('node-1', 'iptables -nvxL OUTPUT')),
      ),
    ],
  };
};

export const networkRows = [
  lossOn('loss of 10 % to the API', api, 0.1, ['healthy', places.unreachable('packet_loss')]),
  lossOn('loss of 33 % to the API', api, 0.33, [places.unreachable('packet_loss')]),
  lossOn('loss of 33 % to the terminal listener', listener, 0.33, [
    places.listenerTimeout('packet_loss'),
    'healthy',
  ]),
  toxicOn(
    'delay of 2.5 s to the API',
    'node-1.node-api',
    { type: 'latency', attributes: { latency: 2500, jitter: 0 } },
    longHandshake(api),
    [places.unreachable('slow_link')],
  ),
  toxicOn(
    'delay of 4 s to the terminal listener',
    'node-1.term',
    { type: 'latency', attributes: { latency: 4000, jitter: 0 } },
    longHandshake(listener),
    [places.listenerTimeout('slow_link'), places.streamTimeout('late')],
  ),
  toxicOn(
    'jitter of 2 s to the terminal listener',
    'node-1.term',
    { type: 'latency', attributes: { latency: 2000, jitter: 2000 } },
    longHandshake(listener),
    [places.listenerTimeout('slow_link'), places.streamTimeout('late'), 'healthy'],
  ),
  toxicOn(
    'bandwidth of 1 KB/s from the edge to the gateway',
    'edge.gateway',
    { type: 'bandwidth', stream: 'upstream', attributes: { rate: 1 } },
    longTerminal,
    [places.upgradeFailed('slow_link'), 'healthy'],
  ),
  toxicOn(
    'delay of 5 s from the gateway to Redis',
    'gateway.redis',
    { type: 'latency', attributes: { latency: 5000, jitter: 0 } },
    terminal(/^session_binding_unavailable/),
    [places.upgradeFailed('session_binding_unavailable')],
  ),
];
