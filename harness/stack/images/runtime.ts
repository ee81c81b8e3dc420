// Node 24 and npm packages that a platform needs as one image without a system, from which the others
// copy. It is taken from this checkout's node_modules, so it needs no network.
import { cpSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { repoRoot } from '../bootstrap/machine.mjs';
import { lockFile } from './catalogue.ts';
import { closure, nodePackage, runtimeManifest } from './closure.ts';
import { buildCommand, label, logFileOf } from './docker.ts';

/** On another operating system the packages for Linux are fetched apart, by the same lock file. */
async function linuxPackages(image: string, logFile: string, work: string): Promise<string> {
  if (process.platform === 'linux' && existsSync(join(repoRoot, nodePackage(process.arch)))) {
    return repoRoot;
  }
  const copy = join(work, 'linux');
  mkdirSync(join(copy, 'tools'), { recursive: true });
  for (const name of ['package.json', 'package-lock.json', '.npmrc', 'tools/vitest-runner-shim']) {
    cpSync(join(repoRoot, name), join(copy, name), { recursive: true });
  }
  const target = ['--os=linux', `--cpu=${process.arch}`, '--libc=glibc'];
  const args = ['ci', '--prefix', copy, '--omit=dev', '--ignore-scripts', '--no-audit', ...target];
  await buildCommand(image, logFile, 'npm', args);
  return copy;
}

export async function makeRuntime(
  image: string,
  tag: string,
  { packages, folder }: { readonly packages: readonly string[]; readonly folder: string },
): Promise<void> {
  const logFile = logFileOf(image);
  const work = mkdtempSync(join(tmpdir(), 'runtime-'));
  try {
    const from = await linuxPackages(image, logFile, work);
    const tree = join(work, 'tree');
    const inside = join(tree, folder);
    const binary = join(tree, 'usr', 'local', 'bin', 'node');
    mkdirSync(dirname(binary), { recursive: true });
    cpSync(join(from, nodePackage(process.arch), 'bin', 'node'), binary);
    for (const path of closure(lockFile(), packages, process.arch)) {
      cpSync(join(from, path), join(inside, path), { recursive: true, dereference: true });
    }
    writeFileSync(join(inside, 'package.json'), runtimeManifest);
    const tar = join(work, 'runtime.tar');
    const owner = ['--owner=0', '--group=0', '--numeric-owner'];
    const ownerWords = process.platform === 'linux' ? owner : [];
    await buildCommand(image, logFile, 'tar', ['-C', tree, ...ownerWords, '-cf', tar, '.']);
    const args = ['import', '--change', `LABEL ${label}`, tar, tag];
    await buildCommand(image, logFile, 'docker', args);
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}
