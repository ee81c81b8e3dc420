// The request of a preflight, from argv and from a profile file.
import { existsSync } from 'node:fs';
import { nearest } from '../base/nearest.ts';
import { secretsIn } from '../base/secrets-in.ts';
import { ownFlags, parseArgv } from '../preflight/argv.ts';
import type { AnySystem, Flag, Request } from '../preflight/types.ts';
import type { Profile } from '../records/profile.ts';
import { askedSystem, usualSystem } from '../systems/index.ts';
import { WrongUsage } from './arguments.ts';
import { knownProfile, rememberProfile } from './profile-cache.ts';

export type Given =
  | { readonly system: AnySystem; readonly request: Request }
  | { readonly system: AnySystem; readonly errors: readonly string[] };

/** A profile is nothing but argv: what the user gives beside it comes later, and wins. */
export async function given(argv: readonly string[]): Promise<Given> {
  const { profile, stack, node, rest } = where(argv);
  const system = await usualSystem();
  const isGiven = (name: string): boolean =>
    rest.some((word) => word === `--${name}` || word.startsWith(`--${name}=`));
  try {
    if (
      profile === undefined &&
      stack === undefined &&
      flagsThatSay(system, 'platform').some(isGiven)
    )
      return parsed(system, [...rest, ...(node ? [nodeFlag(system), node] : [])]);
    return await fromProfile(await deployment(profile, stack), node, rest);
  } catch (error) {
    if (!(error instanceof WrongUsage)) throw error;
    return { system, errors: [error.message] };
  }
}

const flagsThatSay = (system: AnySystem, what: Flag['says']): string[] =>
  system.flags.filter(({ says }) => says === what).map(({ name }) => name);

/** That of the system, or else our own, which needs a profile. */
const nodeFlag = (system: AnySystem): string => `--${flagsThatSay(system, 'node')[0] ?? 'node'}`;

const whereFlags = ['profile', 'stack', 'node'] as const;
type Where = Partial<Record<(typeof whereFlags)[number], string>>;

/**
 * The flags that choose a deployment are read before its system, and with it the other flags, can
 * be known.
 */
function where(argv: readonly string[]): Where & { rest: string[] } {
  const found: Where = {};
  const rest: string[] = [];
  for (let index = 0; index < argv.length; index += 1) {
    const word = argv[index] ?? '';
    const name = whereFlags.find((one) => word === `--${one}` || word.startsWith(`--${one}=`));
    if (name === undefined) rest.push(word);
    else if (word.includes('=')) found[name] = word.slice(word.indexOf('=') + 1);
    else {
      const next = argv[index + 1];
      found[name] = next === undefined || next.startsWith('--') ? '' : next;
      if (found[name] !== '') index += 1;
    }
  }
  return { ...found, rest };
}

async function deployment(
  profileFile: string | undefined,
  stack: string | undefined,
): Promise<Profile> {
  const known = profileFile !== undefined && stack === undefined ? knownProfile(profileFile) : null;
  if (known !== null) return known;
  const { profilesFor } = await import('./profiles.ts');
  if (profileFile === '')
    throw new WrongUsage('found: --profile without a value | allowed: the path of a profile file');
  if (stack?.includes(',') || stack === '')
    throw new WrongUsage(`found: --stack ${JSON.stringify(stack)} | allowed: one stack that is up`);
  const [only] = await profilesFor({ profileFile, stack });
  if (only === undefined)
    throw new WrongUsage(
      'found: no platform | allowed: --profile FILE, --stack NAME, or the addresses themselves ("hopdrill preflight --help" has an example)',
    );
  if (profileFile !== undefined) rememberProfile(profileFile, only);
  return only;
}

async function fromProfile(
  profile: Profile,
  named: string | undefined,
  rest: readonly string[],
): Promise<Given> {
  const system = await askedSystem(profile.system);
  const nodes = Object.keys(profile.nodes);
  const byFlag = nodeFlag(system);
  const byId = lastValue(rest, byFlag);
  if (named !== undefined && byId !== undefined && named !== byId)
    throw new WrongUsage(`found: --node ${named} beside ${byFlag} ${byId} | allowed: one of them`);
  const node = named ?? byId ?? nodes[0] ?? null;
  if (node !== null && !nodes.includes(node)) {
    const near = nearest(node, nodes);
    const flag = named === undefined ? byFlag : '--node';
    throw new WrongUsage(
      `found: ${flag} ${node || '""'} | allowed: ${nodes.join(', ') || 'none'}${near === undefined ? '' : ` | nearest: ${near}`}`,
    );
  }
  return parsed(system, [...system.argv(profile, node), ...rest]);
}

function parsed(system: AnySystem, argv: readonly string[]): Given {
  const result = parseArgv(system, argv);
  if (!result.ok) return { system, errors: result.errors };
  const files = [...ownFlags, ...system.flags]
    .filter((flag) => flag.kind === 'file')
    .map((flag) => [flag.name, result.request.flags[flag.name]] as const);
  const missing = files
    .filter(([, path]) => typeof path === 'string' && !existsSync(path))
    .map(
      ([name, path]) =>
        `found: --${name} ${JSON.stringify(path)} | allowed: the path of a file that exists`,
    );
  return missing.length > 0 ? { system, errors: missing } : { system, request: result.request };
}

/**
 * What the request itself knows and must never print: the files and variables that hold its
 * credentials.
 */
export function secretsOfRequest(system: AnySystem, request: Request): string[] {
  const files = system.flags
    .filter((flag) => flag.secret === true)
    .map((flag) => request.flags[flag.name]);
  const variables = Object.entries(process.env).filter(([name]) =>
    /^HOPDRILL_.*(TOKEN|COOKIE)$/.test(name),
  );
  return [
    ...secretsIn(files.filter((file) => typeof file === 'string')),
    ...variables.flatMap(([, value]) => value ?? []),
  ];
}

const lastValue = (argv: readonly string[], flag: string): string | undefined => {
  const at = argv.lastIndexOf(flag);
  return at >= 0
    ? argv[at + 1]
    : argv.findLast((word) => word.startsWith(`${flag}=`))?.slice(flag.length + 1);
};
