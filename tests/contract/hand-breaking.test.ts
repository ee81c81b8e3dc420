import { describe, expect, test } from 'vitest';
import { quickRows } from '../hand/rows.ts';
import { actOut } from '../support/row.ts';
import { World } from '../support/world.ts';

describe('broken by hand', () => {
  const world = new World();
  test('five rows are picked', () => expect(quickRows.map((row) => row.name)).toHaveLength(5));
  test.for(quickRows)('$name', async (row) => actOut(world, row));
});
