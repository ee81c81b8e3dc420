// Brings about the images that the platform runs from: notices what is there, builds what is not,
// in order, one at a time. Knows nothing of what is inside them; that is said in fixtures/images/.
// Run as a program: `images.ts` builds all, `images.ts NAME...` some, `images.ts --missing` lists.

import { join } from 'node:path';
import { messageOf } from '../base/message-of.ts';
import { endChildrenOnSignal, isEnding, repoRoot, withProgress } from './bootstrap/machine.mjs';
import { docker, dockerQuietly } from './docker-cli.ts';
import { exclusively } from './exclusively.ts';
import { makeBase } from './images/base.ts';
import { type ImageName, imageNames, imageTags, withParents } from './images/catalogue.ts';
import { build, presentTags, staleTags } from './images/docker.ts';
import { makeRuntime } from './images/runtime.ts';
import { makeToxiproxy } from './images/toxiproxy.ts';

export { type ImageName, imageTags } from './images/catalogue.ts';

type Tags = Record<ImageName, string>;

/** An image whose recipe is a Dockerfile and nothing else. */
function fromRecipe(
  image: ImageName,
  context: string,
  args: (tags: Tags) => Record<string, string>,
) {
  const folder = image.replace('gpuaas-', '');
  const dockerfile = join(repoRoot, 'fixtures', 'images', folder, 'Dockerfile');
  return (tags: Tags) =>
    build({
      image,
      tag: tags[image],
      dockerfile,
      context: join(repoRoot, 'fixtures', context),
      args: args(tags),
    });
}

const parentArgs = (tags: Tags) => ({ BASE: tags['gpuaas-base'], RUNTIME: tags['gpuaas-runtime'] });

const makers: Record<ImageName, (tags: Tags) => Promise<void>> = {
  'gpuaas-base': (tags) => makeBase(tags['gpuaas-base']),
  'gpuaas-runtime': (tags) => makeRuntime(tags['gpuaas-runtime']),
  'gpuaas-services': fromRecipe('gpuaas-services', '.', parentArgs),
  'gpuaas-node': fromRecipe('gpuaas-node', '.', parentArgs),
  'gpuaas-toxiproxy': (tags) => makeToxiproxy(tags['gpuaas-toxiproxy'], tags['gpuaas-base']),
  'gpuaas-browser': fromRecipe('gpuaas-browser', 'images/browser', (tags) => ({
    BASE: tags['gpuaas-base'],
  })),
};

/** The plain names that docker-compose.chaos.yml uses follow the sources too. */
async function pointLatest(names: readonly ImageName[], tags: Tags): Promise<Map<string, string>> {
  const present = await presentTags();
  for (const name of names) {
    const id = present.get(tags[name]);
    if (id !== undefined && present.get(`${name}:latest`) !== id) {
      await docker(['tag', tags[name], `${name}:latest`]);
    }
  }
  return present;
}

const missingOf = (names: readonly ImageName[], tags: Tags, present: Map<string, string>) =>
  names.filter((name) => !present.has(tags[name]));

async function prune(
  needed: readonly ImageName[],
  tags: Tags,
  present: Map<string, string>,
): Promise<void> {
  for (const name of needed) {
    for (const tag of staleTags(present.keys(), name, tags[name])) {
      // A refusal means that a container still runs from it: then it stays.
      await dockerQuietly(['rmi', tag]);
    }
  }
}

async function buildMissing(needed: readonly ImageName[], tags: Tags): Promise<void> {
  // Asked again under the lock: the build that we waited for may have been ours.
  for (const name of missingOf(needed, tags, await presentTags())) {
    await withProgress(`image ${tags[name]}`, () => makers[name](tags));
    // Sources edited during the build: what was built may be neither old nor new, and must not keep
    // the tag.
    if (imageTags()[name] !== tags[name]) await dockerQuietly(['rmi', tags[name]]);
  }
  await prune(needed, tags, await pointLatest(needed, tags));
}

/** Makes sure of the named images (all, when none is named) and answers with their full tags. */
export async function ensureImages(which: readonly ImageName[] = imageNames): Promise<Tags> {
  const needed = withParents(which);
  for (let round = 0; round < 4; round += 1) {
    const tags = imageTags();
    const present = await pointLatest(needed, tags);
    if (missingOf(needed, tags, present).length === 0) return tags;
    await exclusively(() => buildMissing(needed, tags));
  }
  throw new Error(
    'the sources changed during each of four builds: try again when nobody edits them',
  );
}

/** Absent, or not what the plain name stands for. Only looks, because doctor asks. */
async function outOfDate(): Promise<ImageName[]> {
  const tags = imageTags();
  const present = await presentTags();
  return imageNames.filter((name) => {
    const id = present.get(tags[name]);
    return id === undefined || present.get(`${name}:latest`) !== id;
  });
}

async function main(args: string[]): Promise<void> {
  if (args[0] === '--missing') {
    const missing = await outOfDate();
    process.stdout.write(missing.map((name) => `${name}\n`).join(''));
    return;
  }
  const unknown = args.filter((word) => !imageNames.includes(word as ImageName));
  if (unknown.length > 0) throw new Error(`no such image: ${unknown.join(', ')}`);
  await ensureImages(args.length === 0 ? imageNames : (args as ImageName[]));
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
