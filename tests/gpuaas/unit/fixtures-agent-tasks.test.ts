// What the agent does with tasks: verified, done once, answered until the answer is accepted.
import { readFileSync, writeFileSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { AgentBench, until } from './fixtures-agent-setup.ts';

/** A terminal for a user that the node does not have. */
const openFor = (session_id: string) => ({
  session_id,
  allocation_id: 'alloc-1',
  username: 'nobody-here',
  stream_token: 'x'.repeat(20),
  cols: 80,
  rows: 24,
});

let bench: AgentBench;
beforeEach(async () => {
  bench = await AgentBench.make();
});
afterEach(() => bench.close());

describe('tasks', () => {
  const only = async (taskId: string) => {
    await until(() => expect(bench.platform.results.has(taskId)).toBe(true));
    return bench.platform.results.get(taskId) ?? [];
  };

  test('a probe is done and answered with its correlation id', async () => {
    bench.start();
    const [result] = await only(bench.platform.addTask('node-1', 'diag.health_probe', {}));
    expect(result).toMatchObject({
      status: 'completed',
      error: null,
      result: { kvm_present: expect.any(Boolean), gpu_devices: expect.any(Array) },
    });
  });

  test('an unknown type and bad parameters are refused with a code', async () => {
    bench.start();
    const unknown = bench.platform.addTask('node-1', 'exec.task', { command: 'id' });
    const bad = bench.platform.addTask('node-1', 'allocation.provision_user', {
      allocation_id: 'a; id',
      username: 'x',
      app_port: 8101,
    });
    const shell = bench.platform.addTask('node-1', 'terminal.open', {
      session_id: 's',
      username: 'root',
      stream_token: 'x'.repeat(20),
      cols: 0,
      rows: 9,
    });
    expect(await only(unknown)).toMatchObject([
      { status: 'failed', error: 'unsupported_task_type' },
    ]);
    expect(await only(bad)).toMatchObject([{ status: 'failed', error: 'invalid_params' }]);
    expect(await only(shell)).toMatchObject([{ status: 'failed', error: 'invalid_params' }]);
  });

  test('a bad signature, a foreign node and an expired task are recorded, not done, not answered', async () => {
    bench.start();
    const ids = [
      bench.platform.addTask('node-1', 'diag.health_probe', {}, { signature: 'AAAA' }),
      bench.platform.addTask('node-2', 'diag.health_probe', {}),
      bench.platform.addTask('node-1', 'diag.health_probe', {}, {}, Date.now() - 1),
      bench.platform.addTask('node-1', 'diag.health_probe', {}, { key_id: 'ts-unknown' }),
    ];
    const codes = () =>
      bench
        .record()
        .history.filter((entry) => entry.reason === 'task_signature_rejected')
        .map((entry) => entry.code);
    await until(() =>
      expect(codes()).toEqual(['bad_signature', 'node_mismatch', 'expired', 'unknown_key']),
    );
    for (const id of ids) expect(bench.platform.results.has(id)).toBe(false);
    expect(bench.current()).toBeNull();
  });

  test('a task delivered twice is done once and answered twice', async () => {
    bench.start();
    const id = bench.platform.addTask('node-1', 'diag.health_probe', {});
    const again = bench.platform.tasks[0];
    await only(id);
    if (again) bench.platform.tasks.push(again);
    await until(() => expect(bench.platform.results.get(id)).toHaveLength(2));
    const [first, second] = bench.platform.results.get(id) ?? [];
    expect(second).toEqual(first);
  });

  test('a refused result waits on disk, across a restart, and arrives', async () => {
    bench.platform.refuse = (path, response) => {
      if (!path.includes('/result')) return false;
      bench.platform.answer(response, 403, '<html>403 Forbidden</html>', null);
      return true;
    };
    bench.start();
    const id = bench.platform.addTask('node-1', 'diag.health_probe', {});
    await until(() => expect(bench.current()).toMatchObject({ reason: 'task_result_post_failed' }));
    await bench.end();
    expect(JSON.parse(readFileSync(bench.at(`results/${id}.json`), 'utf8'))).toMatchObject({
      status: 'completed',
    });
    bench.platform.refuse = () => false;
    bench.start();
    expect(await only(id)).toMatchObject([{ status: 'completed' }]);
    await until(() => expect(bench.current()).toBeNull());
  });

  test('a result that the edge throttles is sent slowly, and arrives', async () => {
    let refused = 0;
    bench.platform.refuse = (path, response) => {
      if (!path.includes('/result') || refused === 2) return false;
      refused += 1;
      bench.platform.answer(response, 429, 'slow down', null);
      return true;
    };
    bench.start();
    const id = bench.platform.addTask('node-1', 'diag.health_probe', {});
    await until(() =>
      expect(bench.current()).toMatchObject({
        reason: 'edge_rate_limited',
        target: `/tasks/${id}/result`,
      }),
    );
    const since = Date.now();
    expect(await only(id)).toMatchObject([{ status: 'completed' }]);
    expect(Date.now() - since).toBeGreaterThan(2 * 600 - 100);
    await until(() => expect(bench.current()).toBeNull());
  });

  test('a task that an earlier process left in the middle is closed, not repeated', async () => {
    const entry = {
      task_id: 't-1',
      task_type: 'allocation.provision_user',
      correlation_id: 'c-12345678',
      state: 'started',
      outcome: null,
    };
    writeFileSync(bench.at('tasks/t-1.json'), JSON.stringify(entry));
    bench.start();
    expect(await only('t-1')).toMatchObject([{ status: 'failed', error: 'interrupted' }]);
  });

  test('a stream that the gateway refuses fails the task with the code', async () => {
    bench.start();
    const [result] = await only(
      bench.platform.addTask('node-1', 'terminal.open', openFor('late-1')),
    );
    expect(result).toMatchObject({ status: 'failed', error: 'stream_failed:node_stream_late' });
    expect(bench.record().history.at(-1)).toMatchObject({
      reason: 'terminal_stream_failed',
      phase: 'http',
    });
  });

  test('a stream without its user fails after it was connected', async () => {
    bench.start();
    const [result] = await only(bench.platform.addTask('node-1', 'terminal.open', openFor('s-1')));
    expect(result).toMatchObject({ status: 'failed', error: 'pty_failed:user_missing' });
    expect(bench.platform.streams.has('s-1')).toBe(true);
  });
});
