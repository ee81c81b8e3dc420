// A row broken by hand has to be named by the preflight, and with certainty.
import { expect } from 'vitest';
import { outcomeOf, type Told, toldTable } from './named.ts';
import { actOut, type Row } from './row.ts';
import type { World } from './world.ts';

const told: Told[] = [];
export const tellAll = (): void => void process.stdout.write(`\n${toldTable(told)}\n`);

export async function handBroken(world: World, row: Row): Promise<void> {
  const answer = await actOut(world, row);
  const one = { row: row.name, right: row.right, answer };
  told.push(one);
  expect(outcomeOf(answer, row.right), toldTable([one])).toBe('right');
}
