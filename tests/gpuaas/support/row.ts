// One row of the hand-breaking suite: break it, see who names the cause, put it back, see them
// silent again.
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'vitest';
import { type Answer, askPreflight, type Right } from './named.ts';
import type { World } from './world.ts';

/**
 * Who it is that knows. The read model and its history are one classifier; the agent's record and
 * its line in the journal are written by one call; a frame, an observation and a line in the
 * gateway's log tell of one event.
 */
export type Source =
  | 'read model'
  | 'agent'
  | 'systemd'
  | 'kernel'
  | 'probe'
  | 'gateway'
  | 'edge'
  | 'ingress'
  | 'links'
  | 'api'
  | 'database'
  | 'provider'
  | 'page';

/**
 * Somebody who can tell what is wrong. `says` looks at what is true now or was written since the
 * given moment.
 */
export interface Witness {
  readonly name: string;
  readonly source: Source;
  says(world: World, since: Date): Promise<boolean>;
}

export interface Row {
  readonly name: string;
  readonly breakIt: (world: World) => Promise<unknown>;
  readonly putBack: (world: World) => Promise<unknown>;
  readonly witnesses: readonly Witness[];
  /** What a preflight must name meanwhile, from the seeds and the rules. */
  readonly right: Right;
  /** Seconds until every witness must have spoken, and then the preflight. */
  readonly within?: number;
  /** What has to have come of it, once the platform is green again. */
  afterwards?(world: World, since: Date): Promise<void>;
}

async function speaking(world: World, row: Row, since: Date): Promise<string[]> {
  const names: string[] = [];
  for (const witness of row.witnesses)
    if (await witness.says(world, since)) names.push(witness.name);
  return names;
}

/**
 * Green platform, and then a second and a half in which no witness says a word. A part that is
 * green may still be about to note that its last trouble is over (a queued result is delivered with
 * the next retry); that note is no complaint, but it has to end soon.
 */
async function untilSilent(world: World, row: Row, when: string): Promise<void> {
  await world.untilGreen();
  let names: string[] = [];
  const isSilent = async () => {
    const since = new Date();
    await sleep(1500);
    names = await speaking(world, row, since);
    return names.length === 0;
  };
  await world
    .until(when, 12, isSilent)
    .catch(() => expect(names, `witnesses that speak ${when}`).toEqual([]));
}

const withinOf = (row: Row): number => row.within ?? 25;

export async function actOut(world: World, row: Row): Promise<Answer> {
  expect(
    new Set(row.witnesses.map(({ source }) => source)).size,
    'independent witnesses',
  ).toBeGreaterThanOrEqual(2);
  await untilSilent(world, row, 'before anything is broken');
  const broken = new Date();
  let answer: Answer;
  try {
    await row.breakIt(world);
    for (const witness of row.witnesses) {
      await world.until(`witness "${witness.name}"`, withinOf(row), () =>
        witness.says(world, broken),
      );
    }
    answer = await askPreflight(world, row.right[0] === 'healthy' ? 0 : withinOf(row));
  } finally {
    await row.putBack(world);
  }
  await untilSilent(world, row, 'after recovery');
  await row.afterwards?.(world, broken);
  return answer;
}
