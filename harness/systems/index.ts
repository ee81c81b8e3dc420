import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { messageOf } from '../base/message-of.ts';
import type { FaultDefinition } from '../faults/define.ts';
import type { AskedSystem, DeclaredSystem, DeploymentSchema, System } from './define.ts';

export type { AskedSystem, System } from './define.ts';

const here = new URL('.', import.meta.url);

/** Every folder beside this file is a system, and is called as its folder. */
const ownNames = readdirSync(here, { withFileTypes: true })
  .filter((entry) => entry.isDirectory())
  .map(({ name }) => name)
  .sort();

const entries = new Map<string, () => Promise<DeclaredSystem>>(
  ownNames.map((name) => [name, () => defaultOf(new URL(`${name}/index.ts`, here))]),
);

async function defaultOf(file: URL): Promise<DeclaredSystem> {
  return ((await import(file.href)) as { default: DeclaredSystem }).default;
}

let named: string | undefined;

/** The last one that the command line named with `--system`. */
export const namedSystem = (): string | undefined => named;

/** The system of a command that is told neither a system nor a deployment. */
export async function usualSystem(): Promise<AskedSystem> {
  const [only, second] = systemNames();
  const name = named ?? declaredUsual() ?? (second === undefined ? only : undefined);
  if (name !== undefined) return askedSystem(name);
  throw new SystemProblem(
    `found: no system | allowed: --system with one of ${systemNames().join(', ')}`,
  );
}

/** What this package says of itself. */
function declaredUsual(): string | undefined {
  const text = readFileSync(new URL('../../package.json', here), 'utf8');
  const { hopdrill } = JSON.parse(text) as { hopdrill?: { usualSystem?: string } };
  return ownNames.find((name) => name === hopdrill?.usualSystem);
}

export const systemNames = (): string[] => [...entries.keys()];
export const loadSystem = async (name: string): Promise<System> => (await entryOf(name)()).whole();
export const askedSystem = async (name: string): Promise<AskedSystem> =>
  (await entryOf(name)()).asked;

/** The compose file of a system that hopdrill can bring up; null for one that it cannot. */
export async function stackFileOf(name: string): Promise<string | null> {
  const { stack } = await entryOf(name)();
  return stack === undefined ? null : fileURLToPath(stack);
}

/** Those of all systems. */
export async function stackFiles(): Promise<string[]> {
  const files = await Promise.all(systemNames().map(stackFileOf));
  return files.filter((file) => file !== null);
}

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
const usualConfig = "export default { systems: ['./my-system.ts'] }";

/**
 * Systems that the folder's configuration names, then the ones that the command line does; the last
 * of these is the usual one. What is wrong with any of them is told at once.
 */
export async function addSystems(words: readonly string[], folder = process.cwd()): Promise<void> {
  const problems: string[] = [];
  const add = async (path: string): Promise<string> => {
    try {
      return await addSystem(path, folder);
    } catch (error) {
      if (!(error instanceof SystemProblem)) throw error;
      problems.push(error.message);
      return path;
    }
  };
  for (const path of await configured(folder, problems)) await add(path);
  for (const word of words) named = entries.has(word) ? word : await add(word);
  if (problems.length > 0) throw new SystemProblem(problems.join('\n'));
}

/** A system of the user's own: its module's default export is what `defineSystem` gave. */
async function addSystem(path: string, from: string): Promise<string> {
  const file = resolve(from, path);
  if (!existsSync(file))
    throw new SystemProblem(
      `found: system ${path}, which is not there | allowed: the path of a module (from ${from}), or ${systemNames().join(', ')}`,
    );
  const { default: system } = (await imported(file, path)) as { default?: DeclaredSystem };
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

async function imported(file: string, path: string): Promise<object> {
  try {
    return (await import(pathToFileURL(file).href)) as object;
  } catch (error) {
    throw new SystemProblem(
      `found: ${path} cannot be loaded: ${messageOf(error)} | allowed: a module that loads (HOPDRILL_DEBUG=1 shows where it broke)`,
      { cause: error },
    );
  }
}

async function configured(folder: string, problems: string[]): Promise<string[]> {
  const config = resolve(folder, configFile);
  if (!existsSync(config)) return [];
  const { default: said } = (await imported(config, configFile)) as { default?: unknown };
  const { systems, ...more } = { ...(said as Record<string, unknown>) };
  for (const key of Object.keys(more))
    problems.push(`found: ${configFile} with the key "${key}" | allowed: systems`);
  if (Array.isArray(systems)) {
    const wrong = systems.filter((path) => typeof path !== 'string');
    for (const path of wrong)
      problems.push(
        `found: ${configFile} with ${JSON.stringify(path)} among its systems | allowed: the path of a module`,
      );
    return systems.filter((path) => typeof path === 'string');
  }
  problems.push(`found: ${configFile} without a list of systems | allowed: ${usualConfig}`);
  return [];
}
