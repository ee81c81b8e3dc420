// What happens to the page itself; seen with a browser, because nothing else can tell.
import { atConsole } from '../support/person.ts';
import type { Row, Witness } from '../support/row.ts';
import { by } from '../support/witnesses.ts';
import type { World } from '../support/world.ts';
import * as places from './places.ts';

/**
 * How long the current page lets "Connecting..." stand: both deadlines of the gateway, and its
 * margin.
 */
const limitMs = (world: World): number => {
  const policy = (key: string) => world.profile.policies[`terminal.${key}_timeout_seconds`] ?? 15;
  return (policy('node_stream') + policy('pty_ready') + 5) * 1000;
};

const stuck: Witness = {
  name: 'user page: still connecting after the gateway sent its error frame',
  source: 'page',
  says: async (world) => {
    const page = await atConsole(world, 'node-1');
    try {
      const shown = await page.waitFor(
        ({ state }) => state !== 'connecting',
        limitMs(world) + 1000,
      );
      const told = page.sockets.some(({ texts }) =>
        texts.some((text) => JSON.parse(text).type === 'error'),
      );
      return shown === null && told;
    } finally {
      await page.close();
    }
  },
};
const oldRelease = by('edge', 'release served by the edge', async (world) => {
  const got = await world.call('GET', `${world.profile.endpoints.console}/release.json`, null);
  return got.json?.name === 'console-2026-04';
});

const install = (release: string) => (world: World) =>
  world.must('edge', `ln -sfn /opt/gpuaas/releases/${release} /etc/gpuaas-edge/console-release`);

const olderConsole: Row = {
  name: 'older console',
  right: [places.listenerTimeout('tcp_timeout')],
  within: 40,
  breakIt: async (world) => {
    await install('console-2026-04')(world);
    // An error that the gateway has to tell.
    await world.must('node-1', 'iptables -I OUTPUT -p tcp --dport 18443 -j DROP');
  },
  putBack: async (world) => {
    await world.must('node-1', 'iptables -D OUTPUT -p tcp --dport 18443 -j DROP');
    await install('console-current')(world);
  },
  witnesses: [stuck, oldRelease],
};

export const consoleRows = [olderConsole];
