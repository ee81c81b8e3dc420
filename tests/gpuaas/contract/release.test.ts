import { describe, expect, test } from 'vitest';
import { World } from '../support/world.ts';

describe('the end of an allocation', () => {
  const world = new World();
  const path = `/v1/allocations/rel-${process.pid}`;
  const taskOf = async (id: string) => (await world.api('GET', `/v1/tasks/${id}`)).json;
  const userThere = async () => (await world.inside('node-1', `id gpu-r${process.pid}`)).code === 0;

  test('is told once to the node, and to nobody who has no right to it', {
    timeout: 60_000,
  }, async () => {
    const asked = {
      allocation_id: `rel-${process.pid}`,
      project_id: 'proj-a',
      node_id: 'node-1',
      username: `gpu-r${process.pid}`,
    };
    expect((await world.api('POST', '/v1/allocations', world.operatorToken, asked)).status).toBe(
      201,
    );
    await world.until('the user is there', 20, userThere);

    for (const who of ['viewer', 'other-user']) {
      const refused = await world.api('POST', `${path}/release`, world.tokenOf(who));
      expect([refused.status, refused.json.error.code]).toEqual([403, 'forbidden']);
    }
    const released = await world.api('POST', `${path}/release`, world.userToken);
    expect(released).toMatchObject({
      status: 202,
      json: { state: 'released', task_id: expect.stringMatching(/^task-/) },
    });
    expect(await world.api('POST', `${path}/release`, world.userToken)).toMatchObject({
      status: 202,
      json: { task_id: null },
    });

    await world.until(
      'deprovisioned',
      20,
      async () => (await taskOf(released.json.task_id)).status === 'completed',
    );
    expect(await userThere()).toBe(false);
    expect(
      (await world.api('POST', `${path}/terminal-token`, world.userToken)).json.error.code,
    ).toBe('allocation_not_active');
    const { rows } = (await world.api('GET', '/v1/audit?action=allocation.release')).json;
    const mine = rows.filter((row: { target: string }) => row.target === asked.allocation_id);
    expect(
      mine.map((row: { result: string; actor_id: string }) => `${row.result} ${row.actor_id}`),
    ).toEqual(['denied viewer-a', 'denied user-b', 'accepted user-a']);
  });
});
