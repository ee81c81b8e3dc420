import type { Row } from '../support/row.ts';
import { consoleRows } from './console-rows.ts';
import { contextRows } from './context-rows.ts';
import { identityRows } from './identity-rows.ts';
import { networkRows } from './network-rows.ts';
import { nodeRows } from './node-rows.ts';
import { platformRows } from './platform-rows.ts';
import { taskRows } from './task-rows.ts';
import { unitRows } from './unit-rows.ts';

const all: readonly Row[] = [
  ...unitRows,
  ...nodeRows,
  ...taskRows,
  ...identityRows,
  ...platformRows,
  ...consoleRows,
  ...contextRows,
  ...networkRows,
];
/** The five that `npm test` acts out; the others are part of `npm run prove`. */
const quick = new Set([
  'unit stopped',
  'egress to the API rejected',
  'Redis stopped',
  'allocation user gone',
  'terminal route gone at the edge',
]);
export const quickRows = all.filter((row) => quick.has(row.name));
export const longRows = all.filter((row) => !quick.has(row.name));
