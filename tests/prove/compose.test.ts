// The compose file alone, without `hopdrill up`: what a person gets from plain `docker compose up`
// when the images are there.
import { execa } from 'execa';
import {
  DockerComposeEnvironment,
  type StartedDockerComposeEnvironment,
  StartupCheckStrategy,
} from 'testcontainers';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { request } from '../../harness/drivers/http.ts';
import { addressesOf, composeEnvironment, slotCount } from '../../harness/stack/addresses.ts';
import { composeFile } from '../../harness/stack/compose.ts';
import { copySecrets } from '../../harness/stack/credentials.ts';
import { down } from '../../harness/stack/down.ts';
import { untilReady } from '../../harness/stack/readiness.ts';

// The last place, which `up` takes last; and no helper container of another registry beside ours.
const addresses = addressesOf(slotCount - 1);
const stack = `plain-${process.pid}`;
process.env.TESTCONTAINERS_RYUK_DISABLED = 'true';

/** Running, or done with success as bootstrap is; whether it answers is asked below. */
class Started extends StartupCheckStrategy {
  override async checkStartupState(
    ...[client, id]: Parameters<StartupCheckStrategy['checkStartupState']>
  ) {
    const { State } = await client.getContainer(id).inspect();
    return State.Running || (State.Status === 'exited' && State.ExitCode === 0)
      ? 'SUCCESS'
      : 'PENDING';
  }
}

let environment: StartedDockerComposeEnvironment;

beforeAll(async () => {
  const folder = composeFile.slice(0, composeFile.lastIndexOf('/'));
  environment = await new DockerComposeEnvironment(folder, 'docker-compose.chaos.yml')
    .withProjectName(`hopdrill-${stack}`)
    .withEnvironment(composeEnvironment(stack, 'fast', addresses))
    .withDefaultWaitStrategy(new Started())
    .up();
});

afterAll(async () => {
  await environment?.down({ removeVolumes: true });
  // By label, as ever: what testcontainers does not know goes too.
  await down(stack);
});

test('plain compose brings the whole platform up: the edge answers, both nodes poll, and a terminal on each does a sum', async () => {
  await copySecrets(stack);
  const reached: string[] = [];
  const waiting = new Map<string, string>();
  const signal = AbortSignal.timeout(60_000);
  const noted = {
    reached: (what: string) => reached.push(what),
    waiting: (what: string, why: string) => waiting.set(what, why),
  };
  await untilReady({ stack, addresses, signal, ...noted }).catch((error: unknown) =>
    expect.fail(`${String(error)} ${[...waiting].join('; ')}`),
  );
  expect(reached.sort()).toEqual([
    'edge',
    'node-1 polls',
    'node-1 terminal',
    'node-2 polls',
    'node-2 terminal',
  ]);
  const provider = await request({ url: `http://127.0.0.1:${addresses.ports.provider}/healthz` });
  expect(provider.status).toBe(200);
  const { stdout } = await execa('docker', [
    'ps',
    '--format',
    '{{.Names}}',
    '--filter',
    `name=hopdrill-${stack}-`,
  ]);
  expect(stdout.split('\n')).toHaveLength(11);
});
