// What is refused for its signature or its age, by the running agent and the running gateway.
// Nothing of it is done, nothing is lost.
import { beforeAll, describe, expect, test } from 'vitest';
import { agentClockBack, restart, setAgentClock } from '../hand/common.ts';
import { effects } from '../support/load.ts';
import { refusalOf } from '../support/upgrade.ts';
import { type Json, World } from '../support/world.ts';

const world = new World();
const allocation = world.allocationOf('node-1');
const policy = (key: string): number => world.profile.policies[key]!;
const mint = async (): Promise<Json> =>
  (await world.api('POST', `/v1/allocations/${allocation}/terminal-token`, world.userToken)).json;
const enqueue = async (path: string, body: object): Promise<string> =>
  (await world.api('POST', path, world.operatorToken, body)).json.task_id;
const task = async (id: string): Promise<Json> => (await world.api('GET', `/v1/tasks/${id}`)).json;

/** The agent's record, the audit and the task itself, once the agent has refused it. */
async function refused(id: string, code: string, since: Date): Promise<void> {
  const isIt = (entry: Json) =>
    entry.reason === 'task_signature_rejected' &&
    entry.code === code &&
    entry.target === `task ${id}`;
  await world.until(`the record says ${code}`, 20, async () =>
    (await world.diagnostic('node-1')).history.some(isIt),
  );
  const row = await world.until('the audit has it', 20, async () => {
    const { json } = await world.api(
      'GET',
      `/v1/audit?action=task.signature_rejected&since=${since.toISOString()}`,
    );
    return json.rows.find((found: Json) => found.target === 'node-1' && found.reason === code);
  });
  expect(row).toMatchObject({ actor_type: 'node', actor_id: 'node-1', result: 'denied' });
  expect(await task(id)).toMatchObject({ result: null, error: null, late_result: null });
}

let early: Json;
beforeAll(async () => {
  await world.untilGreen(60);
  early = await mint();
});

const material = '/etc/gpuaas-api/task-signing.key';
const keys = 'GPUAAS_TASK_SIGNING_PUBKEYS';
const signatures = [
  {
    name: 'by a key that the node does not know',
    code: 'unknown_key',
    breakIt: () =>
      world.must(
        'api',
        `cp -p ${material} /tmp/kept.key && openssl genpkey -algorithm ed25519 > /tmp/other.key && cat /tmp/other.key > ${material}`,
      ),
    putBack: () =>
      world.must(
        'api',
        `test -e /tmp/kept.key && cat /tmp/kept.key > ${material} && rm /tmp/kept.key /tmp/other.key`,
      ),
  },
  {
    name: 'not by the key that it names',
    code: 'bad_signature',
    breakIt: async () => {
      const other = 'head -c 32 /dev/urandom | base64 -w 0';
      await world.must(
        'node-1',
        `cp -a /etc/gpuaas/env /root/env.kept && sed -i "s|^\\(${keys}=[^:]*:\\).*|\\1$(${other})|" /etc/gpuaas/env`,
      );
      await restart(world);
    },
    putBack: async () => {
      await world.must(
        'node-1',
        'test -e /root/env.kept && cat /root/env.kept > /etc/gpuaas/env && rm /root/env.kept',
      );
      await restart(world);
    },
  },
];

describe('a task that is signed', () => {
  test.for(signatures)(
    '$name: refused and told; once it is signed well it is done, once',
    async ({ code, breakIt, putBack }) => {
      const since = new Date();
      let id = '';
      try {
        await breakIt();
        id = await enqueue(`/v1/allocations/${allocation}/provision`, {});
        await refused(id, code, since);
        expect(
          (await effects(world, 'node-1', since)).get(id),
          'times that it took effect',
        ).toBeUndefined();
        await world.until(
          'the read model says auth_failed',
          10,
          async () => (await world.readModel('node-1')).agent_status === 'auth_failed',
        );
      } finally {
        await putBack();
      }
      const ended = await world.until('the task is over', 60, async () => {
        const now = await task(id);
        return now.completed_at !== null && now;
      });
      expect(ended).toMatchObject({ status: 'completed', error: null });
      expect((await effects(world, 'node-1', since)).get(id), 'times that it took effect').toBe(1);
      await world.untilGreen();
    },
  );
});

test('a task that is too old when it arrives: refused and told, and expired; a younger one is done', async () => {
  const since = new Date();
  const ahead = 2 * policy('node.task_lease_seconds');
  await setAgentClock(world, `+${ahead}`);
  try {
    await world.until('the agent polls by its own clock', 20, async () => {
      const { heartbeat } = await world.readModel('node-1');
      return !heartbeat.stale && heartbeat.clock_offset_ms > (ahead - 5) * 1000;
    });
    // One lives for one lease, the other for three.
    const old = await enqueue('/v1/nodes/node-1/tasks', {
      task_type: 'app.status_probe',
      params: { allocation_id: allocation },
    });
    const young = await enqueue('/v1/nodes/node-1/tasks', {
      task_type: 'diag.health_probe',
      params: {},
    });
    await refused(old, 'expired', since);
    expect(
      (await world.readModel('node-1')).agent_status,
      'too late is no quarrel about keys',
    ).not.toBe('auth_failed');
    await world.until(
      'the younger one is done',
      20,
      async () => (await task(young)).status === 'completed',
    );
    const sweep =
      policy('node.task_lease_seconds') + policy('node.task_stale_sweep_interval_seconds') + 20;
    await world.until(
      'the sweeper ends the old one',
      sweep,
      async () => (await task(old)).status === 'expired',
    );
    expect(await task(old)).toMatchObject({
      claims: 1,
      result: null,
      error: null,
      late_result: null,
    });
  } finally {
    await agentClockBack(world);
  }
  await world.untilGreen();
});

test('a terminal token that is over is refused, and the page is told why', async () => {
  const left = Date.parse(early.expires_at) - Date.now();
  await world.until('the token is over', left / 1000 + 5, () =>
    Promise.resolve(Date.now() > Date.parse(early.expires_at)),
  );
  const opening = world.socket(`${world.profile.endpoints.terminal}/ws/terminal`, [
    'gpuaas.terminal.v1',
    `token.${early.token}`,
  ]);
  expect(await refusalOf(opening)).toEqual([401, 'terminal_token_expired']);
  const told = await world.terminalHost('GET', '/v1/refusal', early.token);
  expect([told.status, told.json.error.code]).toEqual([401, 'terminal_token_expired']);
  expect(await world.observations(early.session_id), 'no session was begun').toEqual([]);
  expect(await world.green(), 'a fresh token opens a terminal').toBeNull();
});
