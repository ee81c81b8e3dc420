// What a run reads of the platform, read from one that is well.
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { z } from 'zod';
import type { Row } from '../../../harness/records/item.ts';
import type { HookContext } from '../../../harness/systems/hooks.ts';
import { loadSystem } from '../../../harness/systems/index.ts';
import { World } from '../support/world.ts';

const world = new World();
const { views } = await loadSystem('gpuaas');
const beganAt = new Date(Date.now() - 1000).toISOString();
const context: HookContext = {
  profile: world.profile,
  node: 'node-1',
  runId: `views-${process.pid}`,
  since: beganAt,
  signal: new AbortController().signal,
};

async function read(name: string, params: object = {}): Promise<readonly Row[]> {
  const view = views[name];
  if (view === undefined) throw new Error(`no view ${name}`);
  return z.array(view.fields).parse(await view.read(context, view.params.parse(params))) as Row[];
}

/** Besides these: `report` tells what a preflight of the run said, `task` and `effect` need a task. */
const readable: Readonly<Record<string, object>> = {
  node: {},
  'node.counters': {},
  'node.names': {},
  tasks: {},
  'allocation.app': {},
  trust: {},
  http: { at: 'api', path: '/healthz' },
  terminal: {},
  user: { access: true },
  log: { part: 'api', has: 'healthz' },
};

test.each(Object.entries(readable))('%s is read as it declares itself', async (name, params) => {
  expect((await read(name, params)).length).toBeGreaterThanOrEqual(1);
});

test('audit and history: what happens after the run began', async () => {
  const marked = `node-of-${process.pid}`;
  const refused = await world.api('POST', `/v1/nodes/${marked}/quarantine`, world.userToken, {});
  expect(refused.status).toBe(403);
  const rows = await read('audit');
  expect(rows.filter(({ target }) => target === marked)).toMatchObject([{ result: 'denied' }]);
  expect(await read('audit', { action: 'node.renewed' })).toEqual([]);
  for (const row of await read('history')) expect(row.words).toContain(row.kind);
});

test('every view is read by a test here', () => {
  expect([...Object.keys(readable), 'audit', 'history', 'task', 'effect', 'report'].sort()).toEqual(
    Object.keys(views).sort(),
  );
});

test.each([
  [
    { at: 'api', path: '/v1/nodes/node-1', as: 'operator' },
    { status: 200, code: null },
  ],
  [
    { at: 'api', path: '/v1/nodes/node-1' },
    { status: 401, code: 'unauthenticated' },
  ],
  [
    { at: 'api', path: '/v1/nodes/node-1', as: 'user' },
    { status: 403, code: 'forbidden' },
  ],
])('http: %o answers %o', async (params, expected) => {
  expect(await read('http', params)).toMatchObject([expected]);
});

test('log: only lines that have the words, since the run began', async () => {
  const word = `/v1/nodes/none-${process.pid}`;
  expect(await read('log', { part: 'edge', has: word })).toEqual([{ lines: 0 }]);
  await world.api('GET', word);
  await sleep(500);
  expect(await read('log', { part: 'edge', has: word })).toEqual([{ lines: 1 }]);
});

test('effect and task: one order, one task, done once on the node', async () => {
  const path = `/v1/allocations/${world.allocationOf('node-1')}/provision`;
  const { json } = await world.api('POST', path, world.operatorToken, {});
  const { task_id: id } = json as { task_id: string };
  await world.until('the task', 20, async () => {
    const [row] = await read('task', { id });
    return row?.status === 'completed';
  });
  expect(await read('effect', { task: id })).toEqual([{ times: 1 }]);
  expect(await read('effect', { task: `${id}-other` })).toEqual([{ times: 0 }]);
});

test('report: nothing was said while no preflight was judged', async () => {
  await expect(read('report')).rejects.toThrow('no preflight was judged');
});
