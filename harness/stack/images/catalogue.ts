// Which images there are, what each is made from, and the tag that follows from it.
// A tag is a digest of the image's own inputs and of its parents' tags: present means up to date.
import { createHash } from 'node:crypto';
import { type Dirent, existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { repoRoot } from '../bootstrap/machine.mjs';
import { type LockFile, runtimeFingerprint } from './closure.ts';

export const imageNames = [
  'gpuaas-base',
  'gpuaas-runtime',
  'gpuaas-services',
  'gpuaas-node',
  'gpuaas-toxiproxy',
  'gpuaas-browser',
] as const;
export type ImageName = (typeof imageNames)[number];

export interface ImageSpec {
  /** Files and folders under fixtures/ that decide the content. */
  readonly inputs: readonly string[];
  readonly parents: readonly ImageName[];
}

/** In the order of building: parents come before their children. */
export const imageSpecs: Readonly<Record<ImageName, ImageSpec>> = {
  'gpuaas-base': { inputs: ['images/base'], parents: [] },
  'gpuaas-runtime': { inputs: [], parents: [] },
  'gpuaas-services': {
    inputs: ['images/services', 'gpuaas'],
    parents: ['gpuaas-base', 'gpuaas-runtime'],
  },
  'gpuaas-node': {
    inputs: ['images/node/Dockerfile', 'images/node/rootfs', 'gpuaas'],
    parents: ['gpuaas-base', 'gpuaas-runtime'],
  },
  'gpuaas-toxiproxy': { inputs: ['images/toxiproxy', 'gpuaas/links'], parents: ['gpuaas-base'] },
  'gpuaas-browser': { inputs: ['images/browser'], parents: ['gpuaas-base'] },
};

/**
 * Every file below a path, sorted, so that the digest does not depend on the file system's order.
 */
function filesBelow(path: string): string[] {
  if (!existsSync(path)) return [];
  if (statSync(path).isFile()) return [path];
  return readdirSync(path, { withFileTypes: true })
    .sort((a: Dirent, b: Dirent) => (a.name < b.name ? -1 : 1))
    .flatMap((entry) =>
      entry.isDirectory() ? filesBelow(join(path, entry.name)) : [join(path, entry.name)],
    );
}

/**
 * Content, name and the executable bit count; times and owners do not, for a fresh clone has
 * others.
 */
export function treeDigest(root: string, inputs: readonly string[]): string {
  const hash = createHash('sha256');
  for (const input of inputs) {
    for (const file of filesBelow(join(root, input))) {
      const content = readFileSync(file);
      const executable = (statSync(file).mode & 0o100) !== 0;
      hash.update(`${file.slice(root.length)}\0${executable}\0${content.length}\0`).update(content);
    }
  }
  return hash.digest('hex');
}

const short = (text: string) => createHash('sha256').update(text).digest('hex').slice(0, 8);

/** The full tag of every image for the sources as they lie there now. */
export function imageTags(root = repoRoot): Record<ImageName, string> {
  const lock = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')) as LockFile;
  const tags: Partial<Record<ImageName, string>> = {};
  for (const name of imageNames) {
    const { inputs, parents } = imageSpecs[name];
    const own = treeDigest(join(root, 'fixtures'), inputs);
    const runtime = name === 'gpuaas-runtime' ? runtimeFingerprint(lock, process.arch) : '';
    const parentTags = parents.map((parent) => tags[parent]).join(' ');
    tags[name] = `${name}:${short(`${process.arch} ${own} ${runtime} ${parentTags}`)}`;
  }
  return tags as Record<ImageName, string>;
}

/** The wanted images with all their parents, in the order of building. */
export function withParents(wanted: readonly ImageName[]): ImageName[] {
  const needed = new Set(wanted.flatMap((name) => [name, ...imageSpecs[name].parents]));
  return imageNames.filter((name) => needed.has(name));
}
