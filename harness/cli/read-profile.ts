// A profile file, with every mistake of it at once: of the core's form, then of the system's.
import { readFileSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { type Profile, profile as profileSchema, profileVersion } from '../records/profile.ts';
import { absoluteProfile } from '../stack/absolute-profile.ts';
import type { DeploymentSchema } from '../systems/define.ts';
import { deploymentSchema, systemNames } from '../systems/index.ts';
import { mistakeLines, syntaxLines } from '../yaml/lines.ts';
import { type Mistake, unknownName } from '../yaml/mistake.ts';
import { shapeMistakes } from '../yaml/shape.ts';
import { readSource, type Source } from '../yaml/source.ts';
import { WrongUsage } from './arguments.ts';
import { renamedKeys } from './profile-version-1.ts';

/** Each mistake as `file:line:column: found ...; allowed: ...`. */
export async function readProfile(file: string): Promise<Profile> {
  if (!statSync(file, { throwIfNoEntry: false })?.isFile())
    throw new WrongUsage(
      `--profile ${file}: no such file (docs/your-own-platform/profile.yaml is one to begin with)`,
    );
  const source = readSource(readFileSync(file, 'utf8'));
  const syntax = syntaxLines(file, source);
  if (syntax.length > 0) throw withMistakes(syntax);
  const ofForm = await formMistakes(source.value);
  if (ofForm.length > 0) throw placed(file, source, ofForm);
  const read = profileSchema.parse(source.value);
  const { profile, mistakes } = await asItsSystem(read);
  if (mistakes.length > 0) throw placed(file, source, mistakes);
  return absoluteProfile(profile, dirname(resolve(file)));
}

async function formMistakes(value: unknown): Promise<Mistake[]> {
  const said = (value ?? {}) as { version?: unknown; system?: unknown };
  if (said.version !== 1) return shapeMistakes(profileSchema, value);
  const system = systemNames().find((name) => name === said.system);
  const schema = system === undefined ? null : await deploymentSchema(system);
  return renamedKeys(value, schema?.renamed);
}

/** What the system's own schema says, and the profile with the defaults of it filled in. */
async function asItsSystem(profile: Profile): Promise<{ profile: Profile; mistakes: Mistake[] }> {
  if (!systemNames().includes(profile.system))
    return {
      profile,
      mistakes: [unknownName('system', profile.system, systemNames(), ['system'])],
    };
  const schema = await deploymentSchema(profile.system);
  if (schema === null) return { profile, mistakes: [] };
  const mistakes = mistakesOf(schema, profile);
  if (mistakes.length > 0) return { profile, mistakes };
  const nodes = Object.entries(profile.nodes).map(([name, node]) => [
    name,
    { ...node, own: schema.node.parse(node.own) },
  ]);
  return {
    profile: {
      ...profile,
      nodes: Object.fromEntries(nodes) as Profile['nodes'],
      own: schema.own.parse(profile.own),
    },
    mistakes,
  };
}

const mistakesOf = (schema: DeploymentSchema, profile: Profile): Mistake[] => [
  ...shapeMistakes(schema.endpoints, profile.endpoints, ['endpoints']),
  ...shapeMistakes(schema.credentials, profile.credentials, ['credentials']),
  ...shapeMistakes(schema.own, profile.own, ['own']),
  ...Object.entries(profile.nodes).flatMap(([name, node]) =>
    shapeMistakes(schema.node, node.own, ['nodes', name, 'own']),
  ),
];

const placed = (file: string, source: Source, mistakes: readonly Mistake[]): WrongUsage =>
  withMistakes(mistakeLines(file, source, mistakes, { withPath: true }));

function withMistakes(lines: readonly string[]): WrongUsage {
  const help = `docs/your-own-platform/profile.yaml has a word on each field of version ${profileVersion}`;
  return new WrongUsage(`a profile with mistakes (${help})\n${lines.join('\n')}`);
}
