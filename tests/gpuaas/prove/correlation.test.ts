// One id made by the preflight leads through the whole platform: whoever has a report finds every
// trace of it.
import { beforeAll, expect, test } from 'vitest';
import type { PreflightReport } from '../../../harness/records/preflight.ts';
import { argvFor, preflight } from '../support/preflight.ts';
import { type Json, World } from '../support/world.ts';

let world: World;
let report: PreflightReport;
let began: Date;

beforeAll(async () => {
  world = new World();
  await world.untilGreen();
  began = new Date(Date.now() - 1000);
  report = await preflight(argvFor(world.profile.stack, 'node-1'));
  expect(report.result).toBe('healthy');
});

/** Lines of a part's log that carry the id, read as the JSON that they are. */
const lines = async (part: string): Promise<Json[]> =>
  (await world.log(part, began))
    .split('\n')
    .filter((line) => line.includes(report.correlation_id))
    .map((line) => JSON.parse(line));

test('the gateway log has the session under the id of the preflight', async () => {
  const found = await lines('gateway');
  expect(found.every((line) => line.correlation_id === report.correlation_id)).toBe(true);
  expect(
    found.some((line) => JSON.stringify(line).includes(report.subject.session_id ?? 'no session')),
  ).toBe(true);
});

test('the API log has its requests', async () => {
  const found = await lines('api');
  expect(found.length).toBeGreaterThan(0);
  expect(
    found.every((line) => line.part === 'api' && line.correlation_id === report.correlation_id),
  ).toBe(true);
});

test('audit has the mint', async () => {
  const { status, json } = await world.api(
    'GET',
    `/v1/audit?correlation_id=${report.correlation_id}`,
  );
  expect(status).toBe(200);
  expect(json.rows.length).toBeGreaterThan(0);
  expect(json.rows.every((row: Json) => row.correlation_id === report.correlation_id)).toBe(true);
});

test('the probe task and terminal.open carry it, and so does the session', async () => {
  const probe = report.hops.find((hop) => hop.id === 'node_task_roundtrip')?.target;
  const task = (await world.api('GET', `/v1/tasks/${probe}`)).json;
  expect(task).toMatchObject({
    task_id: probe,
    correlation_id: report.correlation_id,
    status: 'completed',
  });
  const session = (await world.api('GET', `/v1/terminal/sessions/${report.subject.session_id}`))
    .json;
  expect(session.correlation_id).toBe(report.correlation_id);
  expect(session.open_task.correlation_id).toBe(report.correlation_id);
});

test("the gateway's observations of the session have it too", async () => {
  const observations = await world.observations(report.subject.session_id ?? '');
  expect(observations.map((one: Json) => one.event)).toEqual(
    expect.arrayContaining(['browser_accepted', 'open_sent', 'node_stream_connected', 'pty_ready']),
  );
  expect(observations.every((one: Json) => one.correlation_id === report.correlation_id)).toBe(
    true,
  );
});
