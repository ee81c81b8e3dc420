// Which deployments a command is about: stacks that are up, or a profile file.
import { readFileSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { nearest } from '../base/nearest.ts';
import { absoluteProfile } from '../plan/absolute-profile.ts';
import { type Profile, profile as profileSchema } from '../records/profile.ts';
import { sentence } from '../scenarios/mistake.ts';
import { shapeMistakes } from '../scenarios/shape.ts';
import { readSource } from '../scenarios/source.ts';
import { listStacks, profileFileOf } from '../stack/state.ts';
import { WrongUsage } from './arguments.ts';
import type { Selection } from './select.ts';

export interface Where {
  /** One name, or several with commas. */
  readonly stack?: string | undefined;
  readonly stacks?: number | undefined;
  readonly profileFile?: string | undefined;
}

/** Two words on where contradict each other, whichever would win. */
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
export function profilesIfAny(where: Where): Profile[] {
  const up = listStacks().filter((stack) => stack.phase === 'up');
  return oneWord(where) || up.length === 1 ? profilesFor(where) : [];
}

export function profilesFor(where: Where): Profile[] {
  oneWord(where);
  if (where.profileFile !== undefined) return [readProfile(where.profileFile)];
  const up = listStacks().flatMap((stack) => (stack.phase === 'up' ? [stack.stack] : []));
  if (where.stack !== undefined)
    return where.stack.split(',').map((name) => profileOf(knownOf(name, up)));
  const [only] = up;
  if (only === undefined)
    throw new WrongUsage(
      'no stack is up (bring one up with "hopdrill up", or name a platform with --profile FILE)',
    );
  if (where.stacks !== undefined) {
    if (up.length < where.stacks)
      throw new WrongUsage(`--stacks ${where.stacks}: ${up.length} are up (${up.join(', ')})`);
    return up.slice(0, where.stacks).map(profileOf);
  }
  if (up.length > 1)
    throw new WrongUsage(`several stacks are up (${up.join(', ')}): say which with --stack`);
  return [profileOf(only)];
}

function knownOf(name: string, up: readonly string[]): string {
  if (up.includes(name)) return name;
  const near = nearest(name, up);
  const known = up.length === 0 ? 'none is' : `up: ${up.join(', ')}`;
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

/** Every mistake of the file at once, each as `file:line:column: found ...; allowed: ...`. */
export function readProfile(file: string): Profile {
  if (!statSync(file, { throwIfNoEntry: false })?.isFile())
    throw new WrongUsage(
      `--profile ${file}: no such file (docs/your-own-platform/profile.yaml is one to begin with)`,
    );
  const source = readSource(readFileSync(file, 'utf8'));
  const mistakes = source.syntax.map(({ position, message }) => ({
    position,
    text: `YAML: ${message.split('\n')[0]}`,
  }));
  if (mistakes.length === 0)
    mistakes.push(
      ...shapeMistakes(profileSchema, source.value).map((mistake) => ({
        position: source.position(mistake.path, mistake.key),
        text: `${mistake.path.join('.') || 'the file'}: ${sentence(mistake)}`,
      })),
    );
  if (mistakes.length === 0)
    return absoluteProfile(profileSchema.parse(source.value), dirname(resolve(file)));
  mistakes.sort(
    (a, b) => a.position.line - b.position.line || a.position.column - b.position.column,
  );
  const lines = mistakes.map(
    ({ position, text }) => `${file}:${position.line}:${position.column}: ${text}`,
  );
  throw new WrongUsage(
    `a profile with mistakes (docs/your-own-platform/profile.yaml has a word on each field)\n${lines.join('\n')}`,
  );
}

export const profileOf = (stack: string): Profile => readProfile(profileFileOf(stack));
