import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { AnySystem } from '../preflight/types.ts';
import type { SystemDefinition } from './define.ts';

/**
 * All that hopdrill knows about one system under test. Loaded when it is asked for: the core
 * imports none.
 */
// biome-ignore lint/suspicious/noExplicitAny: the context is made and read by the system alone
export type System = SystemDefinition<any>;

/** What a preflight needs of a system; quicker to load than what a whole run needs. */
export type AskedSystem = AnySystem & Pick<System, 'argvFromProfile'>;

interface Entry {
  asked(): Promise<AskedSystem>;
  whole(): Promise<System>;
}

const entries = new Map<string, Entry>([
  [
    'gpuaas',
    {
      asked: async () => (await import('./gpuaas/preflight.ts')).gpuaasPreflight,
      whole: async () => (await import('./gpuaas/index.ts')).gpuaas,
    },
  ],
  ['one-hop', only(async () => (await import('./one-hop/index.ts')).oneHop)],
]);

/** What a preflight takes that names neither a profile nor a system. */
let usual = 'gpuaas';

function only(whole: () => Promise<System>): Entry {
  return { asked: whole, whole };
}

export const systemNames = (): string[] => [...entries.keys()];
export const usualSystem = (): Promise<AskedSystem> => askedSystem(usual);
export const loadSystem = (name: string): Promise<System> => entryOf(name).whole();
export const askedSystem = (name: string): Promise<AskedSystem> => entryOf(name).asked();

function entryOf(name: string): Entry {
  const entry = entries.get(name);
  if (entry === undefined)
    throw new SystemProblem(`no system ${name} (there are: ${systemNames().join(', ')})`);
  return entry;
}

export class SystemProblem extends Error {
  readonly exitCode = 64;
}

const configFile = 'hopdrill.config.ts';

/** A system of the user's own: its module's default export is what `defineSystem` gave. */
async function addSystem(path: string, from: string): Promise<string> {
  const file = resolve(from, path);
  if (!existsSync(file))
    throw new SystemProblem(
      `found: system ${path}, which is not there | allowed: the path of a module (from ${from})`,
    );
  const { default: system } = (await import(pathToFileURL(file).href)) as { default?: System };
  if (typeof system?.name !== 'string' || !Array.isArray(system.hops))
    throw new SystemProblem(
      `found: ${path} without a system as its default export | allowed: export default defineSystem({ ... })`,
    );
  if (entries.has(system.name))
    throw new SystemProblem(
      `found: ${path} is called ${system.name}, as another system is | allowed: a name of its own`,
    );
  entries.set(
    system.name,
    only(() => Promise.resolve(system)),
  );
  return system.name;
}

/**
 * Systems that the folder's configuration names, then the ones that the command line does; the last
 * of these is the usual one.
 */
export async function addSystems(named: readonly string[], folder = process.cwd()): Promise<void> {
  const config = resolve(folder, configFile);
  if (existsSync(config)) {
    const { default: wanted } = (await import(pathToFileURL(config).href)) as {
      default?: { systems?: unknown };
    };
    if (!Array.isArray(wanted?.systems))
      throw new SystemProblem(
        `found: ${configFile} without a list | allowed: export default { systems: ['./my-system.ts'] }`,
      );
    for (const path of wanted.systems) await addSystem(String(path), folder);
  }
  for (const word of named) usual = entries.has(word) ? word : await addSystem(word, folder);
}
