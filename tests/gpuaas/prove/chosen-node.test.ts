// `--node`: a scenario that names one node is run about another one of the platform, and breaks
// nothing on the one that it names.
import { expect, test } from 'vitest';
import { leftOnTargets } from '../support/proof.ts';
import { usual } from '../support/proof-bad-day.ts';
import { begin } from '../support/proof-child.ts';

test('--node node-2: that one is broken, seen, put back, and proved', async () => {
  const run = begin([usual, '--node', 'node-2']);
  await run.at('observe');
  const left = await leftOnTargets();
  expect(left.some((line) => line.startsWith('node-2: hopdrill:'))).toBe(true);
  expect(left.filter((line) => line.startsWith('node-1: '))).toEqual([]);
  const { exitCode, record, stderr } = await run.end();
  expect([exitCode, record?.verdict], `${stderr} ${JSON.stringify(record?.reasons)}`).toEqual([
    0,
    'pass',
  ]);
  expect(record?.node).toBe('node-2');
  expect(record?.readback).toMatchObject([{ name: 'egress.block on node:node-2', ok: true }]);
  expect(await leftOnTargets()).toEqual([]);
});
