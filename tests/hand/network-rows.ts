// Ways that still lead there: packets that are lost, answers that come late, little room.
import { request } from '../../harness/drivers/http.ts';
import type { Right } from '../support/named.ts';
import type { Row } from '../support/row.ts';
import { by, nodeSays } from '../support/witnesses.ts';
import type { World } from '../support/world.ts';
import * as places from './places.ts';

/** By Toxiproxy's own port, as an operator of a test platform would. */
async function atProxy(world: World, method: string, path: string, body?: object): Promise<string> {
  const answer = await request({
    url: `${world.profile.toxiproxy?.url}${path}`,
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
const toxicOn = (name: string, link: string, toxic: Toxic, right: Right, unsure?: string): Row => ({
  name,
  right,
  ...(unsure !== undefined && { unsure }),
  breakIt: (world) =>
    atProxy(world, 'POST', `/proxies/${link}/toxics`, { name: 'hand', toxicity: 1, ...toxic }),
  putBack: (world) => atProxy(world, 'DELETE', `/proxies/${link}/toxics/hand`),
  witnesses: [
    by('links', `${link} has the toxic`, async (world) =>
      /"hand"/.test(await atProxy(world, 'GET', `/proxies/${link}`)),
    ),
    by('probe', `${link} is what somebody set`, async (world) => {
      const { attributes } = JSON.parse(
        await atProxy(world, 'GET', `/proxies/${link}/toxics/hand`),
      ) as Toxic;
      return Object.entries(toxic.attributes).every(([key, value]) => attributes[key] === value);
    }),
  ],
});

/** Whatever nobody happens to use just now is used here. */
const knockAt = (name: string, port: number): string =>
  `for try in $(seq 8); do timeout 0.5 bash -c 'exec 3<>/dev/tcp/${name}/${port}' 2>/dev/null; done`;
const hosts: Readonly<Record<number, string>> = {
  443: 'node-api.gpuaas.test',
  18443: 'term.gpuaas.test',
};

const lossOn = (name: string, port: number, probability: number, right: Right): Row => {
  const rule = `-p tcp --dport ${port} -m statistic --mode random --probability ${probability} -j DROP`;
  const hits = nodeSays(
    'packets are dropped',
    `${knockAt(hosts[port]!, port)}; iptables -nvxL OUTPUT | grep "statistic mode random.*dpt:${port}\\|dpt:${port}.*statistic mode random"`,
    /^\s*[1-9]/m,
  );
  return {
    name,
    right,
    // Half of all polls come through.
    within: 60,
    breakIt: (world) => world.must('node-1', `iptables -I OUTPUT ${rule}`),
    putBack: (world) => world.must('node-1', `iptables -D OUTPUT ${rule}`),
    witnesses: [
      hits,
      by('systemd', 'the rule stands in the table', async (world) =>
        /statistic/.test(await world.must('node-1', 'iptables-save')),
      ),
    ],
  };
};

export const networkRows = [
  lossOn('loss of 10 % to the API', 443, 0.1, ['healthy', places.unreachable('packet_loss')]),
  lossOn('loss of 33 % to the API', 443, 0.33, [places.unreachable('packet_loss')]),
  lossOn('loss of 33 % to the terminal listener', 18443, 0.33, [
    places.listenerTimeout('packet_loss'),
    'healthy',
  ]),
  toxicOn(
    'delay of 2.5 s to the API',
    'node-1.node-api',
    { type: 'latency', attributes: { latency: 2500, jitter: 0 } },
    [places.unreachable('slow_link')],
  ),
  toxicOn(
    'delay of 4 s to the terminal listener',
    'node-1.term',
    { type: 'latency', attributes: { latency: 4000, jitter: 0 } },
    [places.listenerTimeout('slow_link'), places.streamTimeout('late')],
  ),
  toxicOn(
    'jitter of 2 s to the terminal listener',
    'node-1.term',
    { type: 'latency', attributes: { latency: 2000, jitter: 2000 } },
    [places.listenerTimeout('slow_link'), places.streamTimeout('late'), 'healthy'],
  ),
  toxicOn(
    'bandwidth of 1 KB/s from the edge to the gateway',
    'edge.gateway',
    { type: 'bandwidth', stream: 'upstream', attributes: { rate: 1 } },
    [places.upgradeFailed('slow_link'), 'healthy'],
  ),
  toxicOn(
    'delay of 5 s from the gateway to Redis',
    'gateway.redis',
    { type: 'latency', attributes: { latency: 5000, jitter: 0 } },
    [places.upgradeFailed('session_binding_unavailable')],
  ),
];
