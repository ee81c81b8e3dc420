import { describe, test } from 'vitest';
import { longRows } from '../hand/rows.ts';
import { actOut } from '../support/row.ts';
import { sample } from '../support/sampling.ts';
import { World } from '../support/world.ts';

describe('broken by hand', () => {
  const world = new World();
  test.for(sample('rows broken by hand', longRows, 12))('$name', async (row) => actOut(world, row));
});
