// Brings about the images that platforms run from: notices what is there, builds what is not, in
// order, one at a time. Knows nothing of what is inside them; their compose files say that.
// Run as a program: `images.ts` builds all, `images.ts NAME...` some, `images.ts --missing` lists.

import { messageOf } from '../base/message-of.ts';
import { stackFiles } from '../systems/index.ts';
import { endChildrenOnSignal, isEnding, withProgress } from './bootstrap/machine.mjs';
import { docker, dockerQuietly } from './docker-cli.ts';
import { exclusively } from './exclusively.ts';
import { makeBase } from './images/base.ts';
import { type ImageSpec, imagesOfAll, imageTags, type Tags } from './images/catalogue.ts';
import { build, presentTags, staleTags } from './images/docker.ts';
import { baseImage } from './images/own.ts';
import { makeRuntime } from './images/runtime.ts';
import { makeToxiproxy } from './images/toxiproxy.ts';
import { readStackFile } from './read-declaration.ts';

function make({ name, recipe, parents }: ImageSpec, tags: Tags): Promise<void> {
  const tag = tags[name]!;
  if (recipe.kind === 'debian') return makeBase(tag);
  if (recipe.kind === 'toxiproxy') return makeToxiproxy(tag, tags[baseImage]!);
  if (recipe.kind === 'packages') return makeRuntime(name, tag, recipe);
  const args = Object.entries(parents).map(([argument, parent]) => [argument, tags[parent]!]);
  return build({ image: name, tag, ...recipe, args: Object.fromEntries(args) });
}

/** The plain names that a compose file uses by itself follow the sources too. */
async function pointLatest(specs: readonly ImageSpec[], tags: Tags): Promise<Map<string, string>> {
  const present = await presentTags();
  for (const { name } of specs) {
    const id = present.get(tags[name]!);
    if (id !== undefined && present.get(`${name}:latest`) !== id) {
      await docker(['tag', tags[name]!, `${name}:latest`]);
    }
  }
  return present;
}

const missingOf = (specs: readonly ImageSpec[], tags: Tags, present: Map<string, string>) =>
  specs.filter(({ name }) => !present.has(tags[name]!));

async function prune(
  specs: readonly ImageSpec[],
  tags: Tags,
  present: Map<string, string>,
): Promise<void> {
  for (const { name } of specs) {
    for (const tag of staleTags(present.keys(), name, tags[name]!)) {
      // A refusal means that a container still runs from it: then it stays.
      await dockerQuietly(['rmi', tag]);
    }
  }
}

async function buildMissing(specs: readonly ImageSpec[], tags: Tags): Promise<void> {
  // Asked again under the lock: the build that we waited for may have been ours.
  for (const spec of missingOf(specs, tags, await presentTags())) {
    const tag = tags[spec.name]!;
    await withProgress(`image ${tag}`, () => make(spec, tags));
    // Sources edited during the build: what was built may be neither old nor new, and must not keep
    // the tag.
    if (imageTags(specs)[spec.name] !== tag) await dockerQuietly(['rmi', tag]);
  }
  await prune(specs, tags, await pointLatest(specs, tags));
}

/** Makes sure of the images, whose parents are among them, and answers with their full tags. */
export async function ensureImages(specs: readonly ImageSpec[]): Promise<Tags> {
  for (let round = 0; round < 4; round += 1) {
    const tags = imageTags(specs);
    const present = await pointLatest(specs, tags);
    if (missingOf(specs, tags, present).length === 0) return tags;
    await exclusively(() => buildMissing(specs, tags));
  }
  throw new Error(
    'the sources changed during each of four builds: try again when nobody edits them',
  );
}

/** Absent, or not what the plain name stands for. Only looks, because doctor asks. */
async function outOfDate(specs: readonly ImageSpec[]): Promise<string[]> {
  const tags = imageTags(specs);
  const present = await presentTags();
  const isOutOfDate = ({ name }: ImageSpec): boolean => {
    const id = present.get(tags[name]!);
    return id === undefined || present.get(`${name}:latest`) !== id;
  };
  return specs.filter(isOutOfDate).map(({ name }) => name);
}

/** With all their parents, in the order of building. */
function withParents(specs: readonly ImageSpec[], wanted: readonly string[]): ImageSpec[] {
  const needed = new Set(wanted);
  for (const { name, parents } of specs.toReversed())
    if (needed.has(name)) for (const parent of Object.values(parents)) needed.add(parent);
  return specs.filter(({ name }) => needed.has(name));
}

async function main(args: string[]): Promise<void> {
  const specs = imagesOfAll((await stackFiles()).map(readStackFile));
  if (args[0] === '--missing') {
    process.stdout.write((await outOfDate(specs)).map((name) => `${name}\n`).join(''));
    return;
  }
  const unknown = args.filter((word) => !specs.some(({ name }) => name === word));
  if (unknown.length > 0) throw new Error(`no such image: ${unknown.join(', ')}`);
  await ensureImages(args.length === 0 ? specs : withParents(specs, args));
}

if (import.meta.main) {
  endChildrenOnSignal();
  try {
    await main(process.argv.slice(2));
  } catch (error) {
    if (!isEnding()) process.stderr.write(`${messageOf(error)}\n`);
    process.exitCode = 69;
  }
}
