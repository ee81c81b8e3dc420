// Chaos Toolkit with the same small experiment, installed from PyPI into a folder of its own below
// the state dir.
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Profile } from '../../harness/records/profile.ts';
import { defaultStateDir } from '../../harness/undo/paths.ts';
import type { Bench } from './measurement.ts';
import { command } from './processes.ts';

/** Pinned: a number is only worth something beside the version that gave it. */
const packages = ['chaostoolkit==1.19.0', 'chaostoolkit-lib==1.44.0'];

export interface Peer {
  readonly version: string;
  /** The experiment ten times, each as the tool is used: one command each. */
  ten(): Promise<void>;
}

const curl = (...words: string[]) => ({
  type: 'process',
  path: 'curl',
  arguments: ['-s', '--max-time', '2', ...words],
});

/**
 * Toxic in, HTTP probe, toxic out, read back; its steady state is asked before and after, as ours
 * is.
 */
function experimentFor(profile: Profile): unknown {
  const proxy = `${profile.links?.toxiproxy}/proxies/service`;
  const http = (name: string, method: string, url: string, body?: unknown) => ({
    type: 'action',
    name,
    provider: {
      type: 'http',
      url,
      method,
      timeout: 2,
      ...(body !== undefined && {
        headers: { 'content-type': 'application/json' },
        arguments: body,
      }),
    },
  });
  return {
    version: '1.0.0',
    title: 'the link to the service is cut',
    description: 'the same as one-hop/service-cut',
    'steady-state-hypothesis': {
      title: 'the service answers 200',
      probes: [
        {
          type: 'probe',
          name: 'service',
          tolerance: 200,
          provider: { type: 'http', url: profile.endpoints.service, timeout: 2 },
        },
      ],
    },
    method: [
      http('cut', 'POST', `${proxy}/toxics`, {
        name: 'peer',
        type: 'reset_peer',
        stream: 'downstream',
        toxicity: 1,
        attributes: { timeout: 0 },
      }),
      {
        type: 'probe',
        name: 'felt',
        provider: curl('-o', '/dev/null', profile.endpoints.service ?? ''),
      },
      http('mend', 'DELETE', `${proxy}/toxics/peer`),
      { type: 'probe', name: 'read back', provider: { type: 'http', url: proxy, timeout: 2 } },
    ],
    rollbacks: [],
  };
}

export async function chaosToolkit(bench: Bench, profile: Profile): Promise<Peer> {
  const home = join(defaultStateDir(), 'peers', 'chaostoolkit');
  const chaos = join(home, 'bin', 'chaos');
  if (!existsSync(chaos)) {
    bench.say(`installing Chaos Toolkit into ${home}`);
    await command('python3', ['-m', 'venv', home]);
    await command(join(home, 'bin', 'pip'), [
      'install',
      '--quiet',
      '--disable-pip-version-check',
      ...packages,
    ]);
  }
  const file = join(bench.work, 'experiment.json');
  writeFileSync(file, JSON.stringify(experimentFor(profile)));
  const version = (await command(chaos, ['--version'])).stdout.trim();
  const once = () =>
    command(
      chaos,
      ['--no-version-check', 'run', '--journal-path', join(bench.work, 'journal.json'), file],
      { cwd: bench.work },
    );
  return {
    version,
    ten: async () => {
      for (let turn = 0; turn < 10; turn += 1) await once();
    },
  };
}
