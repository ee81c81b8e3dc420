// The request of a preflight, from argv and from a profile file.
import { existsSync } from 'node:fs';
import { nearest } from '../base/nearest.ts';
import { ownFlags, parseArgv } from '../preflight/argv.ts';
import type { AnySystem, Request } from '../preflight/types.ts';
import type { Profile } from '../records/profile.ts';
import { secretsIn } from '../run-tools/secrets.ts';
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
  const addressed = rest.some((word) => /^--(api-base|node-host)(=|$)/.test(word));
  try {
    if (profile === undefined && stack === undefined && addressed)
      return parsed(system, [...rest, ...(node ? ['--node-id', node] : [])]);
    return await fromProfile(await deployment(profile, stack), node, rest);
  } catch (error) {
    if (!(error instanceof WrongUsage)) throw error;
    return { system, errors: [error.message] };
  }
}

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
      'found: no platform | allowed: --profile FILE, --stack NAME, or --api-base URL ...',
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
  const byId = lastValue(rest, '--node-id');
  if (named !== undefined && byId !== undefined && named !== byId)
    throw new WrongUsage(`found: --node ${named} beside --node-id ${byId} | allowed: one of them`);
  const node = named ?? byId ?? nodes[0] ?? null;
  if (node !== null && !nodes.includes(node)) {
    const near = nearest(node, nodes);
    const flag = named === undefined ? '--node-id' : '--node';
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
  const holds = (name: string): boolean => /token|cookie|ssh-key|password/.test(name);
  const files = system.flags
    .filter((flag) => flag.kind === 'file' && holds(flag.name))
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
