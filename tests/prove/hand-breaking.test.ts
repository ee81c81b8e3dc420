import { describe, test } from 'vitest';
import { longRows } from '../hand/rows.ts';
import { actOut } from '../support/row.ts';
import { World } from '../support/world.ts';

describe('broken by hand', () => {
  const world = new World();
  test.for(longRows)('$name', async (row) => actOut(world, row));
});
