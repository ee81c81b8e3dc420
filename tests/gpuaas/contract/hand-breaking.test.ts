import { afterAll, describe, expect, test } from 'vitest';
import { quickRows } from '../hand/rows.ts';
import { handBroken, tellAll } from '../support/hand-broken.ts';
import { World } from '../support/world.ts';

describe('broken by hand', () => {
  const world = new World();
  afterAll(tellAll);
  test('five rows are picked', () => expect(quickRows.map((row) => row.name)).toHaveLength(5));
  test.for(quickRows)('$name', async (row) => handBroken(world, row));
});
