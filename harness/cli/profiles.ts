// Which deployments a command is about: stacks that are up, or a profile file.
import { nearest } from '../base/nearest.ts';
import type { Profile } from '../records/profile.ts';
import type { Scenario } from '../records/scenario.ts';
import { type ListedStack, listStacks, loadProfile } from '../stack/state.ts';
import { WrongUsage } from './arguments.ts';
import { readProfile } from './read-profile.ts';
import type { Selection } from './select.ts';

export interface Where {
  /** One name, or several with commas. */
  readonly stack?: string | undefined;
  readonly stacks?: number | undefined;
  readonly profileFile?: string | undefined;
  /** Where several stacks are up and none is named: those of this system are meant. */
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
  const up = listStacks().filter((stack) => stack.phase === 'up');
  return oneWord(where) || up.length === 1 ? profilesFor(where) : [];
}

export async function profilesFor(where: Where): Promise<Profile[]> {
  oneWord(where);
  if (where.profileFile !== undefined) return [await readProfile(where.profileFile)];
  const all = listStacks().filter(({ phase }) => phase === 'up');
  if (where.stack !== undefined)
    return where.stack.split(',').map((name) => loadProfile(knownOf(name, all)));
  const { system } = where;
  const up = all.filter((stack) => system === undefined || stack.system === system);
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
    return up.slice(0, where.stacks).map(({ stack }) => loadProfile(stack));
  }
  if (up.length > 1)
    throw new WrongUsage(`several stacks are up (${named(up)}): say which with --stack`);
  return [loadProfile(only.stack)];
}

/** `dev (SYSTEM), small (OTHER)` */
const named = (stacks: readonly ListedStack[]): string =>
  stacks.map(({ stack, system }) => `${stack} (${system})`).join(', ');

function knownOf(name: string, up: readonly ListedStack[]): string {
  const names = up.map(({ stack }) => stack);
  if (names.includes(name)) return name;
  const near = nearest(name, names);
  const known = up.length === 0 ? 'none is' : `up: ${named(up)}`;
  const meant = near === undefined ? '' : `; did you mean ${near}?`;
  throw new WrongUsage(
    `--stack ${name}: no such stack is up (${known})${meant} "hopdrill up --stack ${name}" brings it up`,
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
    system: profiles[0]?.system,
    node,
    nodes: profiles.flatMap((profile) => Object.keys(profile.nodes)),
  };
}

/** Scenarios of several systems cannot share a platform. */
export function systemOf(command: string, scenarios: readonly Scenario[]): string | undefined {
  const systems = [...new Set(scenarios.map(({ record }) => record.system))];
  if (systems.length > 1)
    throw new WrongUsage(
      `${command}: scenarios of several systems (${systems.join(', ')}): take those of one at a time`,
    );
  return systems[0];
}
