// The gateway in this process, as the tests of its sessions and of its refusals use it.
import { afterAll, beforeAll, beforeEach, expect, vi } from 'vitest';
import { startGateway } from '../support/gateway-in-process.ts';

export type Running = Awaited<ReturnType<typeof startGateway>>;
export let platform: Running;

/** One gateway for the tests of a file; each test finds it as it was at the start. */
export function useGateway(): void {
  beforeAll(async () => {
    vi.spyOn(process.stdout, 'write').mockReturnValue(true);
    platform = await startGateway();
  });
  afterAll(() => platform.stop());
  beforeEach(() => {
    Object.assign(platform.api, {
      status: 202,
      body: { task_id: 'task-1' },
      silent: false,
      calls: [],
    });
    platform.binding.down = false;
  });
}

export const eventually = async (condition: () => boolean): Promise<void> => {
  await expect.poll(condition, { timeout: 10_000, interval: 10 }).toBe(true);
};
export const events = async (sid: string): Promise<string[]> => {
  const { body } = await platform.ask(`/v1/sessions/${sid}/observations`);
  const { observations } = body as { observations: { event: string; reason?: string }[] };
  return observations.map(({ event, reason }) =>
    reason === undefined ? event : `${event}:${reason}`,
  );
};
export const ready = async () => {
  const { sid, token } = platform.mint();
  const browser = await platform.browser(token);
  const node = await platform.node(sid);
  node.socket.send('{"type":"pty_ready"}');
  await eventually(() => browser.frames.some((frame) => frame.type === 'ready'));
  return { sid, browser, node };
};
