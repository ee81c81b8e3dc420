import { readFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { messageOf } from '../base/message-of.ts';
import { request } from '../drivers/http.ts';
import type { GuardProfile } from '../records/profile.ts';
import type { Tools } from './tools.ts';

/**
 * Guards of the profile: addresses outside of what a run may touch that have to answer while
 * something is broken. One that does not ends the run, and what is broken is put back.
 */
export class GuardBroken extends Error {
  readonly guard: string;
  readonly expected: string;
  readonly observed: string;
  constructor({ name, url, status }: GuardProfile, observed: string) {
    super(`guard ${name} (${url}): ${observed}`);
    this.name = 'GuardBroken';
    this.guard = name;
    this.expected = `${url} answers ${status}`;
    this.observed = observed;
  }
}

/** Often enough to end a drill before many people notice, seldom enough to be no load. */
const everyMs = 1000;
const timeoutMs = 3000;
/** One answer that is lost on its way proves nothing. */
const looks = 2;
const betweenLooksMs = 250;

/** Null when it holds, else what it answered. */
async function look(guard: GuardProfile, signal?: AbortSignal): Promise<string | null> {
  const { url, status, resolveAddress, caFile } = guard;
  try {
    const answer = await request({
      url,
      timeoutMs,
      ...(resolveAddress !== undefined && { resolveAddress }),
      ...(caFile !== undefined && { ca: readFileSync(caFile, 'utf8') }),
      ...(signal && { signal }),
    });
    return answer.status === status ? null : `answers ${answer.status}`;
  } catch (error) {
    return messageOf(error);
  }
}

async function broken(guard: GuardProfile, signal?: AbortSignal): Promise<GuardBroken | null> {
  let observed: string | null = null;
  for (let count = 0; count < looks; count += 1) {
    if (count > 0) await pause(betweenLooksMs);
    observed = await look(guard, signal);
    if (observed === null) return null;
  }
  return new GuardBroken(guard, observed ?? '');
}

/** Before anything is broken: a guard that does not hold even now can guard nothing. */
export async function brokenBefore({
  profile,
}: Pick<Tools, 'profile'>): Promise<GuardBroken | null> {
  const found = await Promise.all((profile.guard ?? []).map((guard) => broken(guard)));
  return found.find((one) => one !== null) ?? null;
}

export interface Guards {
  /** The first that broke, if one did. */
  broken(): GuardBroken | null;
  close(): Promise<void>;
}

/** Asks until it is closed; the first that breaks ends the asking half of the run. */
export function openGuards({
  profile,
  note,
  stop,
}: Pick<Tools, 'profile' | 'note' | 'stop'>): Guards {
  const over = new AbortController();
  let first: GuardBroken | null = null;
  const watch = async (guard: GuardProfile): Promise<void> => {
    while (!over.signal.aborted && first === null) {
      const found = await broken(guard, over.signal);
      if (over.signal.aborted) return;
      if (found !== null) {
        first ??= found;
        note(found.message);
        stop(found);
      }
      await pause(everyMs, undefined, { signal: over.signal }).catch(() => undefined);
    }
  };
  const watching = (profile.guard ?? []).map(watch);
  return {
    broken: () => first,
    async close() {
      over.abort();
      await Promise.all(watching);
    },
  };
}
