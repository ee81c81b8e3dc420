// What the platform costs while nobody asks anything of it: bounds on resources, as the engine
// accounts for them.
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { openDocker } from '../../../harness/drivers/docker.ts';
import { containersOf } from '../../../harness/stack/engine.ts';
import { all } from '../support/sampling.ts';
import { World } from '../support/world.ts';

const mostMegabytes = 600;
const mostOfOneCore = 0.1;
const idleSeconds = all ? 60 : 20;
const idleMs = 1000 * idleSeconds;

test(`after ${idleSeconds} s without work: at most 600 MB in all, and 10 % of one core over the next ${idleSeconds} s`, async () => {
  const world = new World();
  await world.untilGreen(60);
  const docker = openDocker();
  // The browser is a person's, and no part of the platform.
  const parts = (await containersOf(world.profile.stack)).filter(
    ({ service, state }) => service !== 'browser' && state === 'running',
  );
  expect(parts.map(({ service }) => service)).toEqual([
    'api',
    'db',
    'dns',
    'edge',
    'gateway',
    'ingress',
    'links',
    'node-1',
    'node-2',
    'provider',
    'redis',
  ]);
  const measure = () => Promise.all(parts.map(({ container }) => docker.usage(container)));
  await sleep(idleMs);
  const [before, began] = [await measure(), performance.now()];
  await sleep(idleMs);
  const [after, seconds] = [await measure(), (performance.now() - began) / 1000];
  const used = parts.map(({ service }, index) => ({
    service,
    megabytes: after[index]!.memoryBytes / 1e6,
    core: (after[index]!.cpuSeconds - before[index]!.cpuSeconds) / seconds,
  }));
  const sum = (of: 'megabytes' | 'core') => used.reduce((total, one) => total + one[of], 0);
  const words = used.map(
    ({ service, megabytes, core }) =>
      `${service} ${megabytes.toFixed(0)} MB ${(100 * core).toFixed(1)} %`,
  );
  process.stdout.write(
    `      ${sum('megabytes').toFixed(0)} MB, ${(100 * sum('core')).toFixed(1)} % of one core: ${words.join(', ')}\n`,
  );
  expect(
    used.filter(({ megabytes, core }) => megabytes <= 0 || core <= 0),
    'that the engine did not account for',
  ).toEqual([]);
  expect(sum('megabytes'), 'MB').toBeLessThanOrEqual(mostMegabytes);
  expect(sum('core'), 'of one core').toBeLessThanOrEqual(mostOfOneCore);
});
