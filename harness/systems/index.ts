import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { FaultDefinition } from '../faults/define.ts';
import type { AskedSystem, DeclaredSystem, DeploymentSchema, System } from './define.ts';

export type { AskedSystem, System } from './define.ts';

const entries = new Map<string, () => Promise<DeclaredSystem>>([
  ['gpuaas', async () => (await import('./gpuaas/index.ts')).gpuaas],
  ['one-hop', async () => (await import('./one-hop/index.ts')).oneHop],
]);

/** What a preflight takes that names neither a profile nor a system. */
let usual = 'gpuaas';

export const systemNames = (): string[] => [...entries.keys()];
export const usualSystem = (): Promise<AskedSystem> => askedSystem(usual);
export const loadSystem = async (name: string): Promise<System> => (await entryOf(name)()).whole();
export const askedSystem = async (name: string): Promise<AskedSystem> =>
  (await entryOf(name)()).asked;

/** Null for a system whose profiles may say what they like. */
export async function deploymentSchema(name: string): Promise<DeploymentSchema | null> {
  const { deployment } = await entryOf(name)();
  return deployment === undefined ? null : (await deployment()).schema;
}

/** Of every system that is known; what knows none is there once. */
export async function knownFaults(): Promise<readonly FaultDefinition[]> {
  const systems = await Promise.all(systemNames().map(loadSystem));
  return [...new Set(systems.flatMap(({ faults }) => faults))];
}

function entryOf(name: string): () => Promise<DeclaredSystem> {
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
  const { default: system } = (await import(pathToFileURL(file).href)) as {
    default?: DeclaredSystem;
  };
  if (typeof system?.name !== 'string' || typeof system.whole !== 'function')
    throw new SystemProblem(
      `found: ${path} without a system as its default export | allowed: export default defineSystem({ ... })`,
    );
  if (entries.has(system.name))
    throw new SystemProblem(
      `found: ${path} is called ${system.name}, as another system is | allowed: a name of its own`,
    );
  entries.set(system.name, () => Promise.resolve(system));
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
