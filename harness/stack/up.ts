// Brings a stack up: a free place, the containers, and a green preflight; all or nothing.
import { setTimeout as sleep } from 'node:timers/promises';
import { messageOf } from '../base/message-of.ts';
import type { Profile } from '../records/profile.ts';
import type { AskedSystem } from '../systems/index.ts';
import type { Addresses } from './addresses.ts';
import { composeUp } from './compose.ts';
import { fetchFiles, writeKnownHosts } from './credentials.ts';
import { down } from './down.ts';
import { containersOf, labelled } from './engine.ts';
import { explainFailure } from './failure.ts';
import { imagesOf, type Tags } from './images/catalogue.ts';
import { ensureImages } from './images.ts';
import { profileOf, writeProfile } from './profile-file.ts';
import type { StackFile } from './read-declaration.ts';
import { untilGreen } from './readiness.ts';
import { reserveSlot } from './slots.ts';
import { loadProfile, profileFileOf, readState, type StackState, writeState } from './state.ts';

export interface UpOptions {
  readonly system: AskedSystem;
  readonly file: StackFile;
  /** Name of a set; null for a system without policies. */
  readonly policies: string | null;
  /** What it is brought up with, by the names of its compose file. */
  readonly options: readonly string[];
  /** Leave a stack that did not come up as it is, to be looked at. */
  readonly keep?: boolean;
  readonly signal: AbortSignal;
  readonly say: (line: string) => void;
  readonly deadlineMs?: number;
}

export interface UpResult {
  readonly stack: string;
  readonly profileFile: string;
  readonly profile: Profile;
  readonly addresses: Addresses;
  readonly alreadyUp: boolean;
}

/** A stack that did not come up, with the reason and the last words of the parts that failed. */
export class UpFailed extends Error {}

const defaultDeadlineMs = 60_000;

export async function up(stack: string, options: UpOptions): Promise<UpResult> {
  const there = await lookForExisting(stack, options);
  if (there) return there;
  const { system, file, policies } = options;
  const tags = await ensureImages(imagesOf(file, options.options));
  options.signal.throwIfAborted();
  const state = {
    ...{ stack, system: system.name, composeFile: file.composeFile },
    ...{ policies, options: [...options.options] },
    phase: 'starting' as const,
    pid: process.pid,
    startedAt: new Date().toISOString(),
    images: tags,
  };
  const addresses = await reserveSlot(state, file);
  options.say(`stack ${stack}: place ${addresses.slot} (${placeOf(addresses)})`);
  try {
    const profile = await start(stack, addresses, tags, options);
    writeState({ ...state, ...addresses, phase: 'up' });
    return { stack, profileFile: profileFileOf(stack), profile, addresses, alreadyUp: false };
  } catch (error) {
    throw await giveUp(stack, options, error);
  }
}

function placeOf({ network, port }: Addresses): string {
  const networks = Object.values(network).map((prefix) => `${prefix}.0/24`);
  const [first] = Object.values(port);
  return [...networks, ...(first === undefined ? [] : [`ports from ${first}`])].join(', ');
}

/**
 * A green stack is the answer; one that is being made, or stands but is not green, is not ours to
 * touch; the rest are leftovers.
 */
async function lookForExisting(stack: string, options: UpOptions): Promise<UpResult | null> {
  const state = readState(stack);
  const containers = state?.phase === 'up' ? await containersOf(stack) : [];
  if (
    state?.phase === 'up' &&
    containers.length > 0 &&
    containers.every((one) => one.endsByItself || one.state !== 'exited')
  )
    return stillGreen(state, options);
  if (state?.phase === 'starting' && state.pid !== process.pid && isAlive(state.pid)) {
    throw new UpFailed(`stack ${stack} is being brought up by process ${state.pid}`);
  }
  const leftovers = await Promise.all(
    (['container', 'network', 'volume'] as const).map((kind) => labelled(kind, stack)),
  );
  if (state !== null || leftovers.flat().length > 0) {
    options.say(`stack ${stack}: taking away what an earlier run left`);
    await down(stack);
  }
  return null;
}

async function stillGreen(state: StackState, options: UpOptions): Promise<UpResult> {
  const { stack } = state;
  const { system, policies } = options;
  const lacks = options.options.filter((name) => !state.options.includes(name));
  if (state.system !== system.name || state.policies !== policies || lacks.length > 0)
    throw new UpFailed(
      `stack ${stack} is up ${[`with system ${state.system}`, ...(state.policies === null ? [] : [`policies ${state.policies}`]), ...lacks.map((name) => `without ${name}`)].join(', ')}; take it down first`,
    );
  const deadline = AbortSignal.any([options.signal, AbortSignal.timeout(10_000)]);
  const profile = loadProfile(stack);
  let why = '';
  const waiting = (what: string, reason: string) => (why = `${what}: ${reason}`);
  try {
    await untilGreen({ system, profile, signal: deadline, reached: () => {}, waiting });
  } catch {
    options.signal.throwIfAborted();
    throw new UpFailed(
      `stack ${stack} is there but not green (${why}); "hopdrill down --stack ${stack}" makes room for a new one`,
    );
  }
  const { slot, network, port } = state;
  const addresses = { slot, network, port };
  return { stack, profileFile: profileFileOf(stack), profile, addresses, alreadyUp: true };
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

async function start(
  stack: string,
  addresses: Addresses,
  tags: Tags,
  { system, file, policies, options, ...rest }: UpOptions,
): Promise<Profile> {
  const timeout = AbortSignal.timeout(rest.deadlineMs ?? defaultDeadlineMs);
  const signal = AbortSignal.any([rest.signal, timeout]);
  const standing = new Map<string, string>();
  try {
    await composeUp({ stack, file, policies, options, addresses, tags, signal });
    rest.say('containers: started');
    await Promise.all([fetchFiles(stack, file), writeKnownHosts(stack, file, addresses, signal)]);
    writeProfile(profileOf({ stack, system: system.name, file, addresses, policies, options }));
    const profile = loadProfile(stack);
    await untilGreen({
      ...{ system, profile, signal },
      reached: (what) => {
        standing.delete(what);
        rest.say(`${what}: green`);
      },
      waiting: (what, why) => standing.set(what, why),
    });
    return profile;
  } catch (error) {
    rest.signal.throwIfAborted();
    if (!timeout.aborted) throw error;
    const reasons = [...standing].map(([what, why]) => `  ${what}: ${why}`);
    throw new UpFailed(
      `not ready in time:\n${reasons.join('\n') || '  the containers did not start'}`,
    );
  }
}

/**
 * Collects the last words before they go with the containers. An interrupted `up` is taken away
 * without a word.
 */
async function giveUp(stack: string, options: UpOptions, error: unknown): Promise<unknown> {
  if (options.signal.aborted) {
    // The engine finishes the order that it is carrying out, although nobody waits for it any more.
    await sleep(300);
    await down(stack);
    return error;
  }
  const reason = messageOf(error);
  const words = await explainFailure(stack);
  if (!options.keep) await down(stack);
  const fate = options.keep
    ? `kept; "hopdrill down --stack ${stack}" takes it away`
    : 'taken away; --keep leaves it to be looked at';
  return new UpFailed(`stack ${stack} did not come up: ${reason}\n${words}\n(${fate})`);
}
