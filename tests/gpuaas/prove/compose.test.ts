// The compose file alone, without `hopdrill up`: what a person gets from plain `docker compose up`
// when the images are there.
import { basename } from 'node:path';
import { execa } from 'execa';
import {
  DockerComposeEnvironment,
  type StartedDockerComposeEnvironment,
  StartupCheckStrategy,
} from 'testcontainers';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { request } from '../../../harness/drivers/http.ts';
import { addressesOf, slotCount } from '../../../harness/stack/addresses.ts';
import { composeEnvironment } from '../../../harness/stack/compose.ts';
import { fetchFiles, writeKnownHosts } from '../../../harness/stack/credentials.ts';
import { down } from '../../../harness/stack/down.ts';
import { profileOf, writeProfile } from '../../../harness/stack/profile-file.ts';
import { untilGreen } from '../../../harness/stack/readiness.ts';
import { loadProfile } from '../../../harness/stack/state.ts';
import { askedSystem } from '../../../harness/systems/index.ts';
import { platformFile } from '../support/platform-file.ts';

// The last place, which `up` takes last; and no helper container of another registry beside ours.
const file = await platformFile();
const addresses = addressesOf(slotCount - 1, file);
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
  environment = await new DockerComposeEnvironment(file.folder, basename(file.composeFile))
    .withProjectName(`hopdrill-${stack}`)
    .withEnvironment(composeEnvironment(stack, file, addresses, 'fast'))
    .withDefaultWaitStrategy(new Started())
    .up();
});

afterAll(async () => {
  await environment?.down({ removeVolumes: true });
  // By label, as ever: what testcontainers does not know goes too.
  await down(stack);
});

test('plain compose brings the whole platform up: the preflight is green on both nodes', async () => {
  const signal = AbortSignal.timeout(60_000);
  await Promise.all([fetchFiles(stack, file), writeKnownHosts(stack, file, addresses, signal)]);
  const deployment = { stack, system: 'gpuaas', file, addresses, policies: 'fast', options: [] };
  writeProfile(profileOf(deployment));
  const reached: string[] = [];
  const waiting = new Map<string, string>();
  await untilGreen({
    ...{ system: await askedSystem('gpuaas'), profile: loadProfile(stack), signal },
    reached: (what) => reached.push(what),
    waiting: (what, why) => waiting.set(what, why),
  }).catch((error: unknown) => expect.fail(`${String(error)} ${[...waiting].join('; ')}`));
  expect(reached).toContain('node-1 preflight');
  expect(reached).toContain('node-2 preflight');
  const provider = await request({ url: `http://127.0.0.1:${addresses.port.provider}/healthz` });
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
