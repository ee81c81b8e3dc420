import { afterAll, describe, test } from 'vitest';
import { longRows } from '../hand/rows.ts';
import { handBroken, tellAll } from '../support/hand-broken.ts';
import { sample } from '../support/sampling.ts';
import { World } from '../support/world.ts';

describe('broken by hand', () => {
  const world = new World();
  afterAll(tellAll);
  test.for(sample('rows broken by hand', longRows, 10))('$name', async (row) =>
    handBroken(world, row),
  );
});
