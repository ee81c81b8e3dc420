// The base image: Debian bookworm, made from Debian's packages where this machine can, pulled where
// not.
import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import {
  aptInstall,
  canInstall,
  debianMirror,
  readAptSources,
  securityMirror,
} from '../bootstrap/apt.mjs';
import { isEnding, repoRoot, say, stateDir, which } from '../bootstrap/machine.mjs';
import { tryDocker } from '../docker-cli.ts';
import { build, buildCommand, label, logFileOf } from './docker.ts';
import { baseImage as image } from './own.ts';

const keyring = '/usr/share/keyrings/debian-archive-keyring.gpg';

const sources = (mirror: string) => [
  `deb ${mirror} bookworm main`,
  `deb ${mirror} bookworm-updates main`,
  `deb ${securityMirror(mirror)} bookworm-security main`,
];

async function bootstrapFromPackages(tag: string): Promise<void> {
  const logFile = logFileOf(image);
  const tar = join(stateDir(), 'base.tar');
  const unused = ['man', 'doc', 'locale'].map(
    (dir) => `--dpkgopt=path-exclude=/usr/share/${dir}/*`,
  );
  const lines = sources(debianMirror(readAptSources()));
  const args = ['--variant=apt', '--mode=root', ...unused, 'bookworm', tar, ...lines];
  try {
    await buildCommand(image, logFile, 'mmdebstrap', args);
    const changes = ['CMD ["/bin/bash"]', `LABEL ${label}`].flatMap((change) => [
      '--change',
      change,
    ]);
    await buildCommand(image, logFile, 'docker', ['import', ...changes, tar, tag]);
  } finally {
    rmSync(tar, { force: true });
  }
}

async function mmdebstrapAvailable(): Promise<boolean> {
  if (!canInstall() || !existsSync(keyring)) return false;
  if (which('mmdebstrap') !== null) return true;
  return (await aptInstall(['mmdebstrap'], join(stateDir(), 'apt.log'))) === null;
}

/** A machine that has the pulled image already needs neither way's network. */
async function pulledAlready(): Promise<boolean> {
  const { ok } = await tryDocker(['image', 'inspect', 'debian:bookworm-slim']);
  return ok;
}

export async function makeBase(tag: string): Promise<void> {
  if (!(await pulledAlready()) && (await mmdebstrapAvailable())) {
    try {
      await bootstrapFromPackages(tag);
      return;
    } catch (error) {
      if (isEnding()) throw error;
      say(`set-up: ${image}: Debian's packages did not do, pulling instead\n${String(error)}`);
    }
  }
  const context = join(repoRoot, 'fixtures', 'images', image);
  await build({ image, tag, dockerfile: join(context, 'Dockerfile'), context, args: {} });
}
