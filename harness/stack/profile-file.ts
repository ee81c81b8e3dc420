// Writes the profile of a stack: where it is, how to reach it, how to break and repair each part.
import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { parse, stringify } from 'yaml';
import { type Profile, profile as profileSchema, profileVersion } from '../records/profile.ts';
import type { Addresses } from './addresses.ts';
import { containerOf } from './names.ts';
import type { StackFile } from './read-declaration.ts';
import { profileFileOf } from './state.ts';
import { fill, joined } from './template.ts';

export interface Deployment {
  readonly stack: string;
  readonly system: string;
  readonly file: StackFile;
  readonly addresses: Addresses;
  /** Name of a set. */
  readonly policies: string | null;
  readonly options: readonly string[];
}

export function profileOf(deployment: Deployment): Profile {
  const { stack, system, file, addresses, policies, options } = deployment;
  const template = Object.entries(file.options).reduce(
    (sum, [name, option]) => joined(sum, options.includes(name) ? option.with : option.without),
    file.profile,
  );
  const containers = Object.keys(file.services).map((part) => [part, containerOf(stack, part)]);
  const filled = fill(template, {
    port: addresses.port,
    network: addresses.network,
    container: Object.fromEntries(containers) as Record<string, string>,
  });
  return profileSchema.parse({
    version: profileVersion,
    ...{ system, stack, disposable: true, watchdog: 'here' },
    ...(policies !== null && { environment: policies, policies: numbersOf(file, policies) }),
    ...(filled as object),
  });
}

function numbersOf({ folder, policies }: StackFile, set: string): unknown {
  return parse(readFileSync(resolve(folder, policies!.sets[set]!), 'utf8'));
}

/** By rename, so that another command never reads half a file. */
export function writeProfile(profile: Profile): string {
  const file = profileFileOf(profile.stack);
  const text = `# Written by "hopdrill up"; paths are relative to this file.\n${stringify(profile)}`;
  writeFileSync(`${file}.new`, text, { mode: 0o600 });
  renameSync(`${file}.new`, file);
  return file;
}
