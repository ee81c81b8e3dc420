// Which images a platform needs, what each is made from, and the tag that follows from it.
// A tag is a digest of the image's own inputs and of its parents' tags: present means up to date.
import { createHash } from 'node:crypto';
import { type Dirent, existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { repoRoot } from '../bootstrap/machine.mjs';
import type { ImageDeclaration } from '../declaration.ts';
import type { StackFile } from '../read-declaration.ts';
import { type LockFile, runtimeFingerprint } from './closure.ts';
import { baseImage, ownImages, toxiproxyImage } from './own.ts';

export type Recipe =
  | { readonly kind: 'debian' }
  | { readonly kind: 'toxiproxy' }
  | { readonly kind: 'dockerfile'; readonly dockerfile: string; readonly context: string }
  | { readonly kind: 'packages'; readonly packages: readonly string[]; readonly folder: string };

export interface ImageSpec {
  readonly name: string;
  readonly recipe: Recipe;
  /** Files and folders below `root` that decide the content. */
  readonly root: string;
  readonly inputs: readonly string[];
  /** Build argument and image. */
  readonly parents: Readonly<Record<string, string>>;
}

/** In the order of building. */
const own: readonly ImageSpec[] = [
  {
    name: baseImage,
    recipe: { kind: 'debian' },
    root: repoRoot,
    inputs: [`fixtures/images/${baseImage}`],
    parents: {},
  },
  {
    name: toxiproxyImage,
    recipe: { kind: 'toxiproxy' },
    root: repoRoot,
    inputs: [`fixtures/images/${toxiproxyImage}`],
    parents: { BASE: baseImage },
  },
];

function specOf(name: string, image: ImageDeclaration, root: string): ImageSpec {
  if ('packages' in image) {
    const { packages, folder } = image;
    return { name, root, inputs: [], parents: {}, recipe: { kind: 'packages', packages, folder } };
  }
  const [dockerfile, context] = [join(root, image.dockerfile), join(root, image.context)];
  const recipe: Recipe = { kind: 'dockerfile', dockerfile, context };
  return { name, recipe, root, inputs: [image.dockerfile, ...image.inputs], parents: image.from };
}

/**
 * What a platform runs from, parents first; an image of an option that is not wanted is left out.
 */
export function imagesOf(file: StackFile, options: readonly string[]): ImageSpec[] {
  const declared = Object.entries(file.images)
    .filter(([, { option }]) => option === undefined || options.includes(option))
    .map(([name, image]) => specOf(name, image, file.folder));
  const named = new Set([
    ...declared.flatMap(({ parents }) => Object.values(parents)),
    ...Object.values(file.services).map((image) => image.split(':')[0]!),
  ]);
  if (named.has(toxiproxyImage)) named.add(baseImage);
  return [...own.filter(({ name }) => named.has(name)), ...declared];
}

/** Of several platforms; what they share is there once. */
export function imagesOfAll(files: readonly StackFile[]): ImageSpec[] {
  const all = files.flatMap((file) => imagesOf(file, Object.keys(file.options)));
  const once = all.filter(({ name }, index) => all.findIndex((one) => one.name === name) === index);
  return once.toSorted((a, b) => ranked(a) - ranked(b));
}
const ranked = ({ name }: ImageSpec): number =>
  ownImages.includes(name) ? ownImages.indexOf(name) : ownImages.length;

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

export type Tags = Readonly<Record<string, string>>;

/** The full tag of every image for the sources as they lie there now. */
export function imageTags(specs: readonly ImageSpec[]): Tags {
  const tags: Record<string, string> = {};
  for (const { name, root, inputs, parents, recipe } of specs) {
    const parentTags = Object.values(parents).map((parent) => tags[parent]);
    const of = `${process.arch} ${treeDigest(root, inputs)} ${packagesDigest(recipe)} ${parentTags.join(' ')}`;
    tags[name] = `${name}:${short(of)}`;
  }
  return tags;
}

function packagesDigest(recipe: Recipe): string {
  if (recipe.kind !== 'packages') return '';
  return `${recipe.folder} ${runtimeFingerprint(lockFile(), recipe.packages, process.arch)}`;
}

export const lockFile = (): LockFile =>
  JSON.parse(readFileSync(join(repoRoot, 'package-lock.json'), 'utf8')) as LockFile;
