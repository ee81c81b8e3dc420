// Which deployments a command is about: stacks that are up, or a profile file.
import { nearest } from '../base/nearest.ts';
import type { Profile } from '../records/profile.ts';
import type { Scenario } from '../records/scenario.ts';
import { type ListedStack, listStacks, loadProfile } from '../stack/state.ts';
import { namedSystem } from '../systems/index.ts';
import { WrongUsage } from './arguments.ts';
import { readProfile } from './read-profile.ts';
import type { Selection } from './select.ts';

export interface Where {
  /** One name, or several with commas. */
  readonly stack?: string | undefined;
  readonly stacks?: number | undefined;
  readonly profileFile?: string | undefined;
  /** Where no stack is named: those of this system are meant, or of the one after `--system`. */
  readonly system?: string | undefined;
}

/** --stack, --stacks and --profile each name a deployment; giving two of them is an error. */
function oneWord({ stack, stacks, profileFile }: Where): boolean {
  const given = Object.entries({
    '--stack': stack,
    '--stacks': stacks,
    '--profile': profileFile,
  }).filter(([, value]) => value !== undefined);
  const [first, second] = given.map(([name, value]) => `${name} ${value}`);
  if (second !== undefined)
    throw new WrongUsage(
      `found: ${first} beside ${second} | allowed: one of --stack, --stacks, --profile`,
    );
  return first !== undefined;
}

/** For what touches nothing: where it would be if that is clear, else nowhere. */
export async function profilesIfAny(where: Where): Promise<Profile[]> {
  const up = stacksOf(where.system ?? namedSystem());
  return oneWord(where) || up.length === 1 ? profilesFor(where) : [];
}

const stacksOf = (system: string | undefined): ListedStack[] =>
  listStacks().filter(
    (stack) => stack.phase === 'up' && (system === undefined || stack.system === system),
  );

export async function profilesFor(where: Where): Promise<Profile[]> {
  oneWord(where);
  if (where.profileFile !== undefined) return [await readProfile(where.profileFile)];
  const all = stacksOf(undefined);
  if (where.stack !== undefined)
    return ofOneSystem(where.stack.split(',').map((name) => knownOf(name, all))).map(loaded);
  const system = where.system ?? namedSystem();
  const up = stacksOf(system);
  const [only] = up;
  if (only === undefined) {
    const command = system === undefined ? 'hopdrill up' : `hopdrill up --system ${system}`;
    throw new WrongUsage(
      `no stack${system === undefined ? '' : ` of ${system}`} is up${all.length === 0 ? '' : `, only ${named(all)}`} (bring one up with "${command}", or name a platform with --profile FILE)`,
    );
  }
  if (where.stacks !== undefined) {
    if (up.length < where.stacks)
      throw new WrongUsage(`--stacks ${where.stacks}: ${up.length} are up (${named(up)})`);
    return ofOneSystem(up).slice(0, where.stacks).map(loaded);
  }
  if (up.length > 1)
    throw new WrongUsage(`several stacks are up (${named(up)}): say which with --stack`);
  return [loaded(only)];
}

const loaded = ({ stack }: ListedStack): Profile => loadProfile(stack);

function ofOneSystem(stacks: readonly ListedStack[]): readonly ListedStack[] {
  if (new Set(stacks.map(({ system }) => system)).size > 1)
    throw new WrongUsage(
      `found: stacks of several systems, ${named(stacks)} | allowed: those of one, with --stack or --system`,
    );
  return stacks;
}

/** `dev (SYSTEM), small (OTHER)` */
const named = (stacks: readonly ListedStack[]): string =>
  stacks.map(({ stack, system }) => `${stack} (${system})`).join(', ');

function knownOf(name: string, up: readonly ListedStack[]): ListedStack {
  const names = up.map(({ stack }) => stack);
  const known = up.find(({ stack }) => stack === name);
  if (known !== undefined) return known;
  const near = nearest(name, names);
  const others = up.length === 0 ? 'none is' : `up: ${named(up)}`;
  const meant = near === undefined ? '' : `; did you mean ${near}?`;
  throw new WrongUsage(
    `--stack ${name}: no such stack is up (${others})${meant} "hopdrill up --stack ${name}" brings it up`,
  );
}

/** What `select` needs to know of where the scenarios will run. */
export function meant(
  profiles: readonly Profile[],
  node: string | undefined,
): Pick<Selection, 'system' | 'node' | 'nodes'> {
  for (const { nodes, stack } of profiles) {
    if (node === undefined || nodes[node] !== undefined) continue;
    const names = Object.keys(nodes);
    const near = nearest(node, names);
    throw new WrongUsage(
      `found: --node ${node} | allowed on ${stack}: ${names.join(', ') || 'none, it has no nodes'}${near === undefined ? '' : ` | nearest: ${near}`}`,
    );
  }
  return {
    system: profiles[0]?.system ?? namedSystem(),
    node,
    nodes: profiles.flatMap((profile) => Object.keys(profile.nodes)),
  };
}

/**
 * The system whose stack is needed, as scenarios of several cannot share a platform; undefined where
 * none was named, and the platform has to be.
 */
export function systemOf(
  command: string,
  scenarios: readonly Scenario[],
  patterns: readonly string[],
): string | undefined {
  const systems = [...new Set(scenarios.map(({ record }) => record.system))].sort();
  if (systems.length > 1 && patterns.length === 0) return undefined;
  if (systems.length > 1)
    throw new WrongUsage(
      `${command}: scenarios of several systems (${systems.join(', ')}): take those of one at a time`,
    );
  return systems[0];
}
