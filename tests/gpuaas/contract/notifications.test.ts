// Notifications: members hear how their allocations do, and of no other project; what is no
// member's is refused.
import { afterAll, expect, test } from 'vitest';
import type { Terminal } from '../../../harness/drivers/websocket.ts';
import { refusalOf } from '../support/upgrade.ts';
import { type Json, World } from '../support/world.ts';

const world = new World();
const listen = (...protocols: string[]) =>
  world.socket(`${world.profile.endpoints.api}/v1/notifications`, [
    'gpuaas.notifications.v1',
    ...protocols,
  ]);
const heard = ({ frames }: Terminal): Json[] =>
  frames.map(({ text }) => JSON.parse(text)).filter(({ type }) => type !== 'hello');
const hears = (socket: Terminal, state: string): Promise<Json> =>
  socket.waitFor(() => heard(socket).find(({ user }) => user.state === state), 20_000);

afterAll(() => world.untilGreen());

test('a node is fenced and restored: each member hears it of his own allocations only', async () => {
  const sockets = await Promise.all(
    ['user', 'viewer', 'other-user'].map((who) => listen(`token.${world.tokenOf(who)}`)),
  );
  const [member, viewer, other] = sockets as [Terminal, Terminal, Terminal];
  expect(member.protocol).toBe('gpuaas.notifications.v1');
  try {
    await world.api(
      'POST',
      '/v1/nodes/node-2/quarantine',
      world.operatorToken,
      {},
      { 'x-correlation-id': 'notifications-fenced' },
    );
    for (const [socket, allocation, project] of [
      [member, 'alloc-2', 'proj-a'],
      [viewer, 'alloc-2', 'proj-a'],
      [other, 'alloc-b', 'proj-b'],
    ] as const) {
      const fenced = await socket.waitFor(
        () => heard(socket).find((told) => told.allocation_id === allocation),
        20_000,
      );
      expect(fenced).toMatchObject({
        type: 'allocation_state',
        project_id: project,
        user: { state: 'operator_action_required' },
      });
      expect([fenced.correlation_id, fenced.user.message]).toEqual([
        'notifications-fenced',
        expect.stringMatching(/^Platform maintenance/),
      ]);
    }
    await world.api('POST', '/v1/nodes/node-2/restore', world.operatorToken, {});
    await Promise.all(sockets.map((socket) => hears(socket, 'normal')));
    const projects = (socket: Terminal) => [
      ...new Set(heard(socket).map(({ project_id }) => project_id)),
    ];
    expect(sockets.map(projects)).toEqual([['proj-a'], ['proj-a'], ['proj-b']]);
    // Another user's allocation on the same node is no business of his, not even by name.
    expect(JSON.stringify(other.frames)).not.toMatch(/alloc-2|gpu-a2/);
    expect(JSON.stringify(member.frames)).not.toMatch(/alloc-b|gpu-b1/);
  } finally {
    await world.api('POST', '/v1/nodes/node-2/restore', world.operatorToken, {});
    await Promise.all(sockets.map((socket) => socket.close()));
  }
});

test('no token and a wrong one are refused', async () => {
  expect(await refusalOf(listen())).toEqual([401, 'unauthenticated']);
  expect(await refusalOf(listen('token.of-nobody'))).toEqual([401, 'unauthenticated']);
});

test('a frame over 4 KiB closes that socket, and nobody else is disturbed', async () => {
  const [loud, quiet] = await Promise.all([
    listen(`token.${world.userToken}`),
    listen(`token.${world.userToken}`),
  ]);
  try {
    loud.send('x'.repeat(4096));
    loud.send('x'.repeat(4097));
    await world.until('closed', 10, () => Promise.resolve(loud.closed()));
    expect(loud.closed()).toEqual({ code: 1009, reason: 'frame_too_large' });
    expect(quiet.closed()).toBeNull();
  } finally {
    await Promise.all([loud.close(), quiet.close()]);
  }
});
