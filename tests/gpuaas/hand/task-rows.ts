// What happens to the work that a node is given: results that are refused, polls that are too many,
// tasks that nobody claims.
import { expect } from 'vitest';
import { effects } from '../support/load.ts';
import type { Row } from '../support/row.ts';
import { attached, by, diagnostic, journal, log, readModel } from '../support/witnesses.ts';
import type { Json, World } from '../support/world.ts';
import { reload, requests, unit } from './common.ts';
import * as places from './places.ts';

function resultRefused(): Row {
  let taskId = '';
  return {
    name: 'result path refused after the claim',
    right: [places.resultLost()],
    breakIt: async (world) => {
      const rule = 'location ~ ^/internal/v1/nodes/[^/]+/tasks/[^/]+/result$ { return 403; }';
      await reload(world, 'ingress', `echo '${rule}' > /etc/nginx/node-api.d/result.conf`);
      const asked = await world.api(
        'POST',
        `/v1/allocations/${world.allocationOf('node-1')}/provision`,
        world.operatorToken,
        {},
      );
      taskId = asked.json.task_id;
    },
    putBack: (world) => reload(world, 'ingress', 'rm -f /etc/nginx/node-api.d/result.conf'),
    witnesses: [
      diagnostic('task_result_post_failed', (current, record) =>
        [current, ...record.history.slice(-3)].some(
          (entry) =>
            entry.reason === 'task_result_post_failed' && Date.now() - Date.parse(entry.at) < 6000,
        ),
      ),
      journal(/task_result_post_failed/),
      // Results are sent oldest first, so it need not be this task's.
      log(
        'ingress',
        /"uri":"\/internal\/v1\/nodes\/node-1\/tasks\/[^/]+\/result","status":403[^\n]*"upstream_status":""/,
      ),
      // The platform's own count, whatever the agent has told it: claimed, lease over, no result.
      readModel('task_result_failed, from the tasks', (model) => {
        const { evidence } = model.recovery;
        return (
          model.agent_status === 'task_result_failed' &&
          evidence.some((item: Json) => item.reason === 'task_result_missing')
        );
      }),
    ],
    afterwards: async (world, since) => {
      const task = await world.until('the task is over', 15, async () => {
        const { json } = await world.api('GET', `/v1/tasks/${taskId}`);
        return json.completed_at !== null && json;
      });
      expect(task.status, 'the result arrived').toBe('completed');
      expect(
        (await effects(world, 'node-1', since)).get(taskId),
        'times that the task took effect',
      ).toBe(1);
    },
  };
}

const refusedPolls = async (world: World, since: Date): Promise<Json[]> =>
  (await requests(world, since)).filter(
    ({ uri, status, upstream_status }) =>
      status === 429 && upstream_status === '' && uri.includes('/nodes/node-1/tasks/wait'),
  );
const polledSlowly = by(
  'ingress',
  'ingress log: polls refused with 429, one slow poll after the other',
  async (world, since) => {
    // The first may be a poll that was on its way when the limit came.
    const [last = 0, before = last] = (await refusedPolls(world, since))
      .map((poll) => Date.parse(poll.at))
      .toReversed();
    // The log tells whole seconds.
    const pause = ((world.profile.policies['node.rate_limited_poll_seconds'] ?? 6) - 1) * 1000;
    return last - before >= pause;
  },
);
const zone =
  'map $server_port $polling { 8441 node-1; default ""; }\\nlimit_req_zone $polling zone=polling:1m rate=1r/m;\\nlimit_req_status 429;\\n';
const rateLimited: Row = {
  name: 'edge rate limit',
  right: [places.rateLimited('edge_rate_limited')],
  within: 40,
  breakIt: (world) =>
    reload(
      world,
      'ingress',
      `printf '${zone}' > /etc/nginx/conf.d/polling.conf && echo 'limit_req zone=polling;' > /etc/nginx/node-api.d/polling.conf`,
    ),
  putBack: (world) =>
    reload(
      world,
      'ingress',
      'rm -f /etc/nginx/node-api.d/polling.conf /etc/nginx/conf.d/polling.conf',
    ),
  witnesses: [
    diagnostic('edge_rate_limited', (current) => current.reason === 'edge_rate_limited'),
    polledSlowly,
    attached('edge_rate_limited, temporary', ({ recovery }) => {
      const told = recovery.evidence.some(
        (item: Json) => item.source === 'operator' && item.reason === 'edge_rate_limited',
      );
      return told && recovery.user_state === 'temporary';
    }),
  ],
  afterwards: async (world, since) => {
    const told = async () =>
      (await world.history('node-1', since)).some(
        ({ kind, detail }) =>
          kind === 'past_failures' && /agent:edge_rate_limited\/\S+ x[2-9]/.test(detail),
      );
    await world.until('the agent has told how often it was refused', 10, told);
  },
};

const reader = 'forgotten-session';
const psql = (world: World, sql: string) =>
  world.must('db', `su postgres -c "psql -d gpuaas -Atc \\"${sql}\\""`);
/**
 * Somebody reads a row for update and goes home: until the session ends, the sweeper waits for the
 * row, and no poll is given it.
 */
const holdRow = (world: World, taskId: string) => {
  const sql = `BEGIN; SELECT 1 FROM tasks WHERE task_id = '${taskId}' FOR UPDATE; SELECT pg_sleep(120)`;
  return world.docker(
    'exec',
    '-d',
    '-u',
    'postgres',
    '-e',
    `PGAPPNAME=${reader}`,
    world.container('db'),
    'psql',
    '-d',
    'gpuaas',
    '-c',
    sql,
  );
};
function backlog(): Row {
  let taskId = '';
  const task = async (world: World): Promise<Json> =>
    (await world.api('GET', `/v1/tasks/${taskId}`)).json;
  return {
    name: 'task backlog after an outage',
    right: ['healthy'],
    breakIt: async (world) => {
      await world.must('node-1', `systemctl stop ${unit}`);
      const params = { allocation_id: world.allocationOf('node-1') };
      const asked = await world.api('POST', '/v1/nodes/node-1/tasks', world.operatorToken, {
        task_type: 'app.status_probe',
        params,
      });
      taskId = asked.json.task_id;
      await holdRow(world, taskId);
      const { expires_at } = await task(world);
      await world.until('the task is too old', 40, () =>
        Promise.resolve(Date.now() > Date.parse(expires_at)),
      );
      await world.must('node-1', `systemctl start ${unit}`);
    },
    putBack: async (world) => {
      await psql(
        world,
        `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = '${reader}'`,
      );
      await world.must('node-1', `systemctl start ${unit}`);
    },
    witnesses: [
      readModel(
        'task_backlog_stale, temporary, though the agent polls',
        ({ recovery, heartbeat, tasks }) => {
          const told =
            recovery.reason === 'task_backlog_stale' && recovery.user_state === 'temporary';
          return told && !heartbeat.stale && tasks.expired_queued === 1;
        },
      ),
      by('database', 'PostgreSQL: the sweeper waits for a row', async (world) => {
        const waits =
          "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'gpuaas-sweeper' AND wait_event_type = 'Lock'";
        return Number(await psql(world, waits)) > 0;
      }),
    ],
    afterwards: async (world, since) => {
      expect(await task(world), 'ended by the sweeper, and never claimed').toMatchObject({
        status: 'expired',
        claims: 0,
        result: null,
      });
      const { json } = await world.api(
        'GET',
        `/v1/audit?action=task.expired&since=${since.toISOString()}`,
      );
      expect(json.rows, 'audit').toContainEqual(
        expect.objectContaining({
          actor_type: 'sweeper',
          target: 'node-1',
          reason: 'never_claimed',
        }),
      );
      const { tasks, latest_operation } = await world.readModel('node-1');
      expect(tasks.expired_queued, 'shown as current').toBe(0);
      expect(latest_operation?.task_id, 'latest operation').not.toBe(taskId);
      expect((await world.history('node-1', since)).map(({ reason }) => reason)).toContain(
        'task_backlog_stale',
      );
    },
  };
}

export const taskRows = [resultRefused(), rateLimited, backlog()];
