// Bad input where nodes come in: the node-facing API, recovery, the node streams of the gateway. A
// clear refusal with a code, an audit row where a person would want one, and the platform goes on.
import { afterAll, describe, expect, test } from 'vitest';
import { type Frame, outputOf } from '../../../harness/drivers/websocket.ts';
import { unit } from '../hand/common.ts';
import {
  asNode,
  enrolment,
  nodeApi,
  sendOverlarge,
  streamOf,
  upgrade,
} from '../support/as-node.ts';
import { type Json, World } from '../support/world.ts';

const world = new World();
const began = new Date();
const malformed = '{"status":';
const oversized = JSON.stringify({ detail: 'x'.repeat(70_000) });
const postAs = (url: string, body: string) =>
  asNode(world, 'node-1', { url, method: 'POST', body });
const audited = async (action: string): Promise<Json[]> =>
  (await world.api('GET', `/v1/audit?action=${action}&since=${began.toISOString()}`)).json.rows;
const messages = (frames: readonly Frame[]): Json[] =>
  frames.filter(({ kind }) => kind === 'text').map(({ text }) => JSON.parse(text));

describe('node-facing API', () => {
  test("another node's path is refused and audited", async () => {
    const got = await asNode(world, 'node-1', { url: `${nodeApi}/node-2/tasks/wait?claim=false` });
    expect([got.status, got.json.error.code]).toEqual([403, 'node_identity_mismatch']);
    const row = {
      actor_type: 'node',
      actor_id: 'node-1',
      target: 'node-2',
      result: 'denied',
      reason: 'node_identity_mismatch',
    };
    expect(await audited('node.call')).toContainEqual(expect.objectContaining(row));
  });

  test.for([
    ['malformed JSON', malformed, 400, 'malformed_json'],
    ['no JSON object', '[]', 400, 'malformed_json'],
    ['an oversized body', oversized, 413, 'body_too_large'],
  ] as const)('%s is refused by the API itself', async ([, body, status, code]) => {
    for (const path of ['diagnostics', 'certificate/renew', 'tasks/some-task/result']) {
      const got = await postAs(`${nodeApi}/node-1/${path}`, body);
      expect([got.status, got.json.error?.code], path).toEqual([status, code]);
      expect(got.json.error.correlation_id, path).toMatch(/^[A-Za-z0-9._-]{8,80}$/);
    }
  });

  test('a result is accepted once and again, and never for a task of somebody else', async () => {
    const asked = { task_type: 'diag.health_probe', params: {} };
    const { json: made } = await world.api(
      'POST',
      '/v1/nodes/node-1/tasks',
      world.operatorToken,
      asked,
    );
    const task = await world.until('task completed', 15, async () => {
      const { json } = await world.api('GET', `/v1/tasks/${made.task_id}`);
      return json.status === 'completed' ? json : null;
    });
    const late = JSON.stringify({
      status: 'failed',
      result: null,
      error: 'replayed',
      correlation_id: task.correlation_id,
    });
    const replay = await postAs(`${nodeApi}/node-1/tasks/${made.task_id}/result`, late);
    expect([replay.status, replay.json.accepted, replay.json.duplicate]).toEqual([200, true, true]);
    expect((await world.api('GET', `/v1/tasks/${made.task_id}`)).json).toMatchObject({
      status: 'completed',
      result: task.result,
    });
    const foreign = `${nodeApi}/node-1/tasks/00000000-0000-4000-8000-000000000000/result`;
    expect(
      await postAs(foreign, JSON.stringify({ status: 'completed', result: {} })),
    ).toMatchObject({
      status: 404,
      json: { error: { code: 'task_not_found' } },
    });
  });
});

describe('recovery', () => {
  const enrol = (body: string, token: string) => {
    const headers = { authorization: `Bearer ${token}` };
    return asNode(world, 'node-1', {
      url: enrolment,
      method: 'POST',
      body,
      headers,
      ca: 'recovery-ca.crt',
      certificate: false,
    });
  };
  const asked = JSON.stringify({ node_id: 'node-1', csr: 'a request', reason: 'cert_expired' });

  test.for([
    ['malformed JSON', malformed, 400, 'malformed_json'],
    ['an oversized body', oversized, 413, 'body_too_large'],
    ['no request at all', '{}', 400, 'bad_request'],
  ] as const)('%s is refused', async ([, body, status, code]) => {
    const got = await enrol(body, 'enr_of-nobody');
    expect([got.status, got.json.error?.code]).toEqual([status, code]);
  });

  test("a wrong token and another node's are refused and audited, and nobody is enrolled", async () => {
    const others = (
      await world.must('node-2', `sed -n 's/^GPUAAS_ENROLLMENT_TOKEN=//p' /etc/gpuaas/env`)
    ).trim();
    expect(others).toMatch(/^\S{8,}$/);
    for (const token of ['enr_of-nobody', others]) {
      const got = await enrol(asked, token);
      expect([got.status, got.json.error?.code]).toEqual([401, 'recovery_token_invalid']);
    }
    const rows = await audited('node.enrol');
    const denied = {
      actor_type: 'anonymous',
      target: 'node-1',
      result: 'denied',
      reason: 'recovery_token_invalid',
    };
    expect(rows).toContainEqual(expect.objectContaining(denied));
    expect(await audited('node.recovery_enrolled')).toEqual([]);
  });
});

describe('node stream', () => {
  test("another node's certificate is refused, recorded, and the terminal goes on", async () => {
    const since = new Date();
    const terminal = await world.terminal('node-1');
    try {
      const { session_id } = await terminal.waitFor(
        (frames) => messages(frames).find(({ type }) => type === 'ready'),
        15_000,
      );
      const headers = { ...upgrade, authorization: 'Bearer none-of-mine' };
      const got = await asNode(world, 'node-2', { url: streamOf(session_id), headers });
      expect([got.status, got.json.error?.code]).toEqual([403, 'client_identity_mismatch']);
      const seen = (await world.observations(session_id)).filter(
        ({ event }) => event === 'node_stream_refused',
      );
      expect(seen.map(({ detail }) => detail)).toEqual([
        'client_identity_mismatch: certificate names node-2, session is for node-1',
      ]);
      const refusal = {
        san: 'URI:gpuaas:node:node-2',
        authorization_error: 'client_identity_mismatch',
        session_id,
      };
      expect(await world.tlsRefusals(since)).toContainEqual(
        expect.objectContaining({ ...refusal, serial: expect.stringMatching(/^[0-9A-F]+$/) }),
      );
      terminal.send('echo $((6*7))x\n');
      await terminal.waitFor((frames) => outputOf(frames).includes('42x'));
    } finally {
      await terminal.close();
    }
  });

  test('an oversized frame ends the stream, and the user is told', async () => {
    await world.must('node-1', `systemctl stop ${unit}`);
    try {
      const sending = sendOverlarge(world, 'node-1', 2 * 1024 * 1024);
      const terminal = await world.terminal('node-1');
      expect(await sending).toEqual({ status: 101, close: 1009 });
      await world.until('the terminal is closed', 10, () => Promise.resolve(terminal.closed()));
      expect(terminal.closed()).toEqual({ code: 4411, reason: 'node_stream_lost' });
      const told = messages(terminal.frames).find(({ type }) => type === 'error');
      expect(told).toMatchObject({
        code: 'node_stream_lost',
        message: expect.stringMatching(/lost/),
        correlation_id: expect.any(String),
      });
      const closed = (await world.observations(told.session_id)).find(
        ({ event }) => event === 'closed',
      );
      expect(closed).toMatchObject({
        reason: 'node_stream_lost',
        detail: expect.stringContaining('frame_too_large'),
      });
    } finally {
      await world.must('node-1', `systemctl start ${unit}`);
    }
  });
});

afterAll(() => world.untilGreen());
