import { describe, expect, it } from 'vitest';
import { pastEntries } from '../../../fixtures/gpuaas/api/past-evidence.ts';

const entry = (reason: string, second: number, more = {}) => ({
  reason,
  at: `2026-01-01T12:00:${String(second).padStart(2, '0')}.000Z`,
  code: 'ECONNREFUSED',
  detail: 'text',
  target: 'https://node-api.gpuaas.test',
  count: 3,
  correlation_id: 'c-12345678',
  ...more,
});
const told = (history: object[], until: string | null, current: object | null = null) =>
  pastEntries({ history, current }, until);
const reasons = (history: object[], until: string | null, current: object | null = null) =>
  told(history, until, current).entries.map(({ reason }) => reason);

describe("the agent's account of what is over", () => {
  const alive = entry('process_alive', 1);
  const poll = entry('task_poll_failed', 5);
  const pty = entry('pty_failed', 9);
  it('is taken once: what came after the newest of the last time', () => {
    expect(reasons([alive, poll], null)).toEqual(['task_poll_failed']);
    const { until } = told([alive, poll], null);
    expect(reasons([alive, poll], until)).toEqual([]);
    expect(reasons([alive, poll, pty], until)).toEqual(['pty_failed']);
    expect(told([alive, poll], until).until).toBe(until);
  });
  it('goes on when the newest of the last time has been repeated, and so has left its place', () => {
    expect(reasons([alive, pty, entry('task_poll_failed', 12)], poll.at)).toEqual([
      'pty_failed',
      'task_poll_failed',
    ]);
  });
  it('goes by place where the clock was set back', () => {
    expect(reasons([entry('cert_expired', 50), poll], entry('', 50).at)).toEqual([
      'task_poll_failed',
    ]);
  });
  it('leaves out what still is', () => {
    expect(reasons([poll, pty], null, pty)).toEqual(['task_poll_failed']);
    expect(told([poll, pty], null, pty).until).toBe(pty.at);
  });
  it('keeps what a reader needs, and drops what makes no sense', () => {
    expect(told([poll], null).entries).toEqual([
      {
        reason: 'task_poll_failed',
        at: new Date('2026-01-01T12:00:05Z'),
        code: 'ECONNREFUSED',
        detail: 'text',
        target: 'https://node-api.gpuaas.test',
        count: 3,
        correlationId: 'c-12345678',
      },
    ]);
    const nonsense = [
      entry('Not A Reason', 1),
      entry('pty_failed', 2, { at: 'soon' }),
      { at: 7 },
      'text',
      null,
    ] as object[];
    expect(reasons(nonsense, null)).toEqual([]);
    expect(pastEntries({ history: 'none' }, null)).toEqual({ entries: [], until: null });
  });
});
