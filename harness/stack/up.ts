// Brings a stack up: a free place, the containers, and readiness seen over the wire; all or
// nothing.

import { setTimeout as sleep } from 'node:timers/promises';
import { messageOf } from '../base/message-of.ts';
import { type Addresses, addressesOf } from './addresses.ts';
import { composeUp } from './compose.ts';
import { copySecrets, writeKnownHosts } from './credentials.ts';
import { down } from './down.ts';
import { containersOf, labelled } from './engine.ts';
import { explainFailure } from './failure.ts';
import { ensureImages } from './images.ts';
import { writeProfile } from './profile-file.ts';
import { type ReadinessContext, readPolicies, untilReady } from './readiness.ts';
import { reserveSlot } from './slots.ts';
import { profileFileOf, readState, type StackState, writeState } from './state.ts';

export interface UpOptions {
  readonly profile: 'fast' | 'seed-defaults';
  readonly browser: boolean;
  /** Leave a stack that did not come up as it is, to be looked at. */
  readonly keep?: boolean;
  readonly signal: AbortSignal;
  readonly say: (line: string) => void;
  readonly deadlineMs?: number;
}

export interface UpResult {
  readonly stack: string;
  readonly profileFile: string;
  readonly addresses: Addresses;
  readonly alreadyUp: boolean;
}

/** A stack that did not come up, with the reason and the last words of the parts that failed. */
export class UpFailed extends Error {}

const defaultDeadlineMs = 60_000;

export async function up(stack: string, options: UpOptions): Promise<UpResult> {
  const there = await lookForExisting(stack, options);
  if (there) return there;
  const tags = await ensureImages([
    'gpuaas-services',
    'gpuaas-node',
    'gpuaas-toxiproxy',
    ...(options.browser ? (['gpuaas-browser'] as const) : []),
  ]);
  options.signal.throwIfAborted();
  const state = {
    stack,
    profile: options.profile,
    browser: options.browser,
    phase: 'starting' as const,
    pid: process.pid,
    startedAt: new Date().toISOString(),
    images: tags,
  };
  const addresses = await reserveSlot(state);
  options.say(
    `stack ${stack}: place ${addresses.slot} (networks ${addresses.core}.0/24 and two more, ports from ${addresses.ports.edge})`,
  );
  try {
    await start(stack, addresses, tags, options);
    writeState({ ...state, slot: addresses.slot, phase: 'up' });
    return { stack, profileFile: profileFileOf(stack), addresses, alreadyUp: false };
  } catch (error) {
    throw await giveUp(stack, options, error);
  }
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
    containers.every((one) => one.service === 'bootstrap' || one.state !== 'exited')
  ) {
    if (state.profile !== options.profile || (options.browser && !state.browser)) {
      throw new UpFailed(
        `stack ${stack} is up with profile ${state.profile}${state.browser ? '' : ', without browser'}; take it down first`,
      );
    }
    await stillGreen(stack, state, options.signal);
    return {
      stack,
      profileFile: profileFileOf(stack),
      addresses: addressesOf(state.slot),
      alreadyUp: true,
    };
  }
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

async function stillGreen(stack: string, state: StackState, signal: AbortSignal): Promise<void> {
  const deadline = AbortSignal.any([signal, AbortSignal.timeout(10_000)]);
  let why = '';
  const waiting = (what: string, reason: string) => (why = `${what}: ${reason}`);
  const context = {
    stack,
    addresses: addressesOf(state.slot),
    signal: deadline,
    reached: () => {},
    waiting,
  };
  try {
    await untilReady(context);
  } catch {
    signal.throwIfAborted();
    throw new UpFailed(
      `stack ${stack} is there but not green (${why}); "hopdrill down --stack ${stack}" makes room for a new one`,
    );
  }
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
  tags: Awaited<ReturnType<typeof ensureImages>>,
  options: UpOptions,
): Promise<void> {
  const timeout = AbortSignal.timeout(options.deadlineMs ?? defaultDeadlineMs);
  const signal = AbortSignal.any([options.signal, timeout]);
  const standing = new Map<string, string>();
  const context: ReadinessContext = {
    stack,
    addresses,
    signal,
    reached: (what) => {
      standing.delete(what);
      options.say(`${what}: ready`);
    },
    waiting: (what, why) => standing.set(what, why),
  };
  try {
    await composeUp({
      stack,
      profile: options.profile,
      browser: options.browser,
      addresses,
      tags,
      signal,
    });
    options.say('containers: started');
    await copySecrets(stack);
    await Promise.all([untilReady(context), writeKnownHosts(stack, addresses, signal)]);
    writeProfile({
      stack,
      addresses,
      environment: options.profile,
      browser: options.browser,
      policies: await readPolicies(context),
    });
  } catch (error) {
    options.signal.throwIfAborted();
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
