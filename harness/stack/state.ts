// What this machine remembers about a stack: one JSON file beside its profile, in a folder that
// only its owner reads.
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { z } from 'zod';
import { messageOf } from '../base/message-of.ts';
import { type Profile, profile as profileSchema } from '../records/profile.ts';
import { absoluteProfile } from './absolute-profile.ts';
import { stackDir, stacksWithState } from './names.ts';

const stackState = z.strictObject({
  stack: z.string(),
  system: z.string(),
  composeFile: z.string(),
  slot: z.number().int(),
  network: z.record(z.string(), z.string()),
  port: z.record(z.string(), z.number().int()),
  /** Name of the set of policies; null for a system without. */
  policies: z.string().nullable(),
  options: z.array(z.string()),
  /** `starting` until its preflight was green. */
  phase: z.enum(['starting', 'up']),
  /** The process that brings it up. */
  pid: z.number().int(),
  startedAt: z.string(),
  /** The image tags that it was started from. */
  images: z.record(z.string(), z.string()),
});
export type StackState = z.infer<typeof stackState>;

export function writeState(state: StackState): void {
  const dir = stackDir(state.stack);
  mkdirSync(dir, { recursive: true, mode: 0o700 });
  // By rename, so that another command never reads half a file.
  const file = join(dir, 'stack.json');
  writeFileSync(`${file}.${process.pid}`, `${JSON.stringify(state, null, 2)}\n`, { mode: 0o600 });
  renameSync(`${file}.${process.pid}`, file);
}

/** Null when there is none, or none that can be read. */
export function readState(stack: string): StackState | null {
  const file = join(stackDir(stack), 'stack.json');
  if (!existsSync(file)) return null;
  try {
    return stackState.parse(JSON.parse(readFileSync(file, 'utf8')));
  } catch {
    return null;
  }
}

export interface ListedStack extends StackState {
  readonly dir: string;
}

/** Stacks that were brought up on this machine and not taken down. */
export function listStacks(): ListedStack[] {
  return stacksWithState().flatMap((stack) => {
    const state = readState(stack);
    return state === null ? [] : [{ ...state, dir: stackDir(stack) }];
  });
}

export const profileFileOf = (stack: string): string => join(stackDir(stack), 'profile.yaml');

/** Its profile has another form than this version writes. */
export class StackOutdated extends Error {
  readonly exitCode = 64;
  constructor(stack: string) {
    super(
      `stack ${stack} was brought up by another version of hopdrill: take it down ("hopdrill down --stack ${stack}") and bring it up again`,
    );
  }
}

/** The profile of a stack, as `up` wrote it. */
export function loadProfile(stack: string): Profile {
  const file = profileFileOf(stack);
  if (!existsSync(file)) throw new Error(`no stack ${stack} is up (hopdrill up --stack ${stack})`);
  const read = profileSchema.safeParse(parse(readFileSync(file, 'utf8')));
  if (!read.success) throw new StackOutdated(stack);
  return absoluteProfile(read.data, stackDir(stack));
}

/** Those of several stacks, and what is wrong with the others. */
export function loadProfiles(stacks: readonly string[]): {
  profiles: Profile[];
  problems: string[];
} {
  const profiles: Profile[] = [];
  const problems: string[] = [];
  for (const stack of stacks) {
    try {
      profiles.push(loadProfile(stack));
    } catch (error) {
      problems.push(messageOf(error));
    }
  }
  return { profiles, problems };
}
