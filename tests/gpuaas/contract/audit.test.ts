// What the audit keeps: repeated refusals are one row with a count; whatever was done is a row
// each, however often.
import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { type Json, World } from '../support/world.ts';

const world = new World();
const rowsOf = async (query: string): Promise<Json[]> =>
  (await world.api('GET', `/v1/audit?${query}`)).json.rows;
/** A name that no earlier refusal was about, so that none of these joins its row. */
const fresh = (): string => `node-${randomUUID().slice(0, 13)}`;

test('five times forbidden at once is one row that says five; somebody else has a row of his own', async () => {
  const since = new Date().toISOString();
  const target = fresh();
  const revokeAs = (who: string) =>
    world.api('POST', `/v1/nodes/${target}/revoke`, world.tokenOf(who), {});
  const answers = await Promise.all(Array.from({ length: 5 }, () => revokeAs('user')));
  answers.push(await revokeAs('viewer'));
  expect(answers.map(({ status, json }) => `${status} ${json.error.code}`)).toEqual(
    Array(6).fill('403 forbidden'),
  );
  const rows = (await rowsOf(`action=node.revoked&since=${since}`)).filter(
    (row) => row.target === target,
  );
  expect(rows.map(({ result, reason, count }) => `${result} ${reason} ${count}`)).toEqual([
    'denied forbidden 5',
    'denied forbidden 1',
  ]);
  const [five, one] = rows;
  expect(five.actor_id).not.toBe(one.actor_id);
  expect(Date.parse(five.last_seen_at)).toBeGreaterThan(Date.parse(five.first_seen_at));
  expect(answers.map(({ headers }) => headers['x-correlation-id'])).toContain(five.correlation_id);
});

test('twenty enqueues are twenty rows, and twenty more for who asked', async () => {
  const correlation = `audit-${randomUUID()}`;
  const enqueue = () =>
    world.api(
      'POST',
      '/v1/nodes/node-1/tasks',
      world.operatorToken,
      { task_type: 'diag.health_probe', params: {} },
      {
        'x-correlation-id': correlation,
      },
    );
  const made = await Promise.all(Array.from({ length: 20 }, enqueue));
  const ids = made.map(({ json }) => json.task_id as string);
  expect(new Set(ids).size).toBe(20);
  const rows = await rowsOf(`correlation_id=${correlation}`);
  const of = (action: string) => rows.filter((row) => row.action === action);
  expect(
    of('task.enqueue')
      .map(({ target }) => target)
      .sort(),
  ).toEqual(ids.map((id) => `node-1/diag.health_probe/${id}`).sort());
  expect(of('node.task_requested')).toHaveLength(20);
  expect(rows.filter(({ count, result }) => count !== 1 || result !== 'accepted')).toEqual([]);
  await world.until('every task completed', 30, async () => {
    const tasks = await Promise.all(ids.map((id) => world.api('GET', `/v1/tasks/${id}`)));
    return tasks.every(({ json }) => json.status === 'completed');
  });
});
