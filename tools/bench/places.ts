// What is measured on: stacks and the smallest system, brought up when first needed and taken down
// at the end, whatever happens.
import { once as happened } from 'node:events';
import { writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { readProfile } from '../../harness/cli/read-profile.ts';
import type { Profile } from '../../harness/records/profile.ts';
import { loadProfile, profileFileOf } from '../../harness/stack/state.ts';
import { root } from '../child.ts';
import { command, hopdrill } from './processes.ts';

export interface Places {
  gpuaas(): Promise<{ profile: Profile; file: string; stack: string }>;
  oneHop(): Promise<{ profile: Profile; file: string }>;
  close(): Promise<void>;
}

const oneHopFile = join(root, 'fixtures/one-hop/compose.yaml');

/** A port that nobody has now, so that somebody's own one-hop goes on undisturbed. */
async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await happened(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await happened(server, 'close');
  return port;
}

export function places(
  given: string | undefined,
  work: string,
  say: (text: string) => void,
): Places {
  const closing: (() => Promise<unknown>)[] = [];
  const gpuaas = async () => {
    const stack = given ?? `bench-${process.pid}`;
    if (given === undefined) {
      say(`bringing up stack ${stack}`);
      closing.push(() => command(hopdrill, ['down', '--stack', stack]));
      await command(hopdrill, ['up', '--stack', stack]);
    }
    return { profile: loadProfile(stack), file: profileFileOf(stack), stack };
  };
  const oneHop = async () => {
    const project = `bench-${process.pid}-one-hop`;
    const ports = { api: await freePort(), service: await freePort() };
    const env = { ONE_HOP_API_PORT: String(ports.api), ONE_HOP_PORT: String(ports.service) };
    const compose = (...words: string[]) =>
      command('docker', ['compose', '-p', project, '-f', oneHopFile, ...words], { env });
    closing.push(() => compose('down', '--timeout', '1'));
    await compose('up', '-d');
    const file = join(work, 'one-hop.yaml');
    const text = {
      ...{ version: 2, system: 'one-hop', stack: project, disposable: true, environment: 'bench' },
      links: { toxiproxy: `http://127.0.0.1:${ports.api}` },
      parts: { service: { container: `${project}-service-1` } },
      endpoints: { service: `http://127.0.0.1:${ports.service}/version` },
      database: { notAudited: 'the service has no database' },
    };
    writeFileSync(file, stringify(text));
    const until = performance.now() + 10_000;
    while (
      !(await fetch(text.endpoints.service).then(
        (answer) => answer.ok,
        () => false,
      ))
    ) {
      if (performance.now() > until) throw new Error('the one-hop service does not answer');
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    return { profile: await readProfile(file), file };
  };
  return {
    gpuaas: once(gpuaas),
    oneHop: once(oneHop),
    close: async () => {
      for (const close of closing.reverse())
        await close().catch((error: unknown) => say(`left over: ${String(error)}`));
    },
  };
}

function once<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | undefined;
  return () => (made ??= make());
}
