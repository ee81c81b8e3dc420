// kill -9 of each part in turn, under a running terminal and 200 tasks: it comes back by itself,
// and nothing is lost or done twice.
import { describe, expect, test } from 'vitest';
import { outputOf, type Terminal } from '../../../harness/drivers/websocket.ts';
import { effects, enqueue, isFinal, readTasks, type Task } from '../support/load.ts';
import { sample } from '../support/sampling.ts';
import { World } from '../support/world.ts';

const tasksWanted = 200;
/** A sweep takes a moment itself: it ends one task after the other. */
const slackMs = 3000;

interface Part {
  readonly name: string;
  /**
   * The container, and how to find the process in it: the child of its init, or what the node's
   * systemd says.
   */
  readonly container: string;
  readonly unit?: string;
  /** All of the container at once, as when a machine's power fails. */
  readonly whole?: true;
  /** A terminal does not pass through here, so it stays. */
  readonly terminalStays: boolean;
}
const service = (name: string, terminalStays: boolean): Part => ({
  name,
  container: name,
  terminalStays,
});
const parts: readonly Part[] = [
  service('api', true),
  service('gateway', false),
  service('ingress', true),
  service('edge', false),
  service('links', false),
  service('redis', true),
  service('db', true),
  service('dns', true),
  service('provider', true),
  {
    name: 'node-agent on node-1',
    container: 'node-1',
    unit: 'gpuaas-node-agent',
    terminalStays: false,
  },
  {
    name: 'node-agent on node-2',
    container: 'node-2',
    unit: 'gpuaas-node-agent',
    terminalStays: true,
  },
  { name: 'sshd on node-1', container: 'node-1', unit: 'ssh', terminalStays: true },
  { name: 'sshd on node-2', container: 'node-2', unit: 'ssh', terminalStays: true },
  {
    name: 'guest agent on node-1',
    container: 'node-1',
    unit: 'qemu-guest-agent',
    terminalStays: true,
  },
  {
    name: 'guest agent on node-2',
    container: 'node-2',
    unit: 'qemu-guest-agent',
    terminalStays: true,
  },
  { name: 'node-1 itself', container: 'node-1', whole: true, terminalStays: false },
  { name: 'node-2 itself', container: 'node-2', whole: true, terminalStays: true },
];

/**
 * The kernel spares process 1 of a container, so it is the service itself that is hit, as a fault
 * of its own would.
 */
async function killNine(world: World, part: Part): Promise<void> {
  if (part.whole) return powerOff(world, part);
  const find = part.unit ? `systemctl show -p MainPID --value ${part.unit}` : 'pgrep -o -P 1';
  const pid = (await world.must(part.container, find)).trim();
  expect(Number(pid), `process of ${part.name}`).toBeGreaterThan(1);
  await world.must(part.container, `kill -9 ${pid}`);
}

/**
 * From outside, where process 1 is a process like another; `docker kill` would count as somebody's
 * wish that it stay down.
 */
async function powerOff(world: World, part: Part): Promise<void> {
  const format = '{{.State.Pid}} {{.Config.Image}}';
  const [pid, image] = (
    await world.docker('inspect', '-f', format, world.container(part.container))
  ).out.split(' ');
  expect(Number(pid), `process of ${part.name}`).toBeGreaterThan(1);
  const outside = [
    '--rm',
    '--pid',
    'host',
    '--network',
    'none',
    '--security-opt',
    'apparmor=unconfined',
    '--entrypoint',
    'sh',
  ];
  const ran = await world.docker('run', ...outside, image!, '-c', `kill -9 ${pid}`);
  expect(ran.code, ran.err).toBe(0);
}

/** The same part as another process: by its unit's start, or its container's. */
async function startOf(world: World, part: Part): Promise<string> {
  if (part.unit)
    return world.must(part.container, `systemctl show -p MainPID,ActiveState ${part.unit}`);
  return (
    await world.docker(
      'inspect',
      '-f',
      '{{.State.Running}} {{.State.StartedAt}}',
      world.container(part.container),
    )
  ).out;
}
const runs = (start: string): boolean => /^true|ActiveState=active/m.test(start);

/** The shell answers, or the gateway has said that it is over: never a terminal that just hangs. */
async function answersOrEnded(terminal: Terminal): Promise<'answers' | 'ended'> {
  if (terminal.closed()) return 'ended';
  const [a, b] = [Math.floor(Math.random() * 900) + 100, 7];
  terminal.send(`echo $((${a}*${b}))\n`);
  const seen = await terminal
    .waitFor((frames) => new RegExp(`^${a * b}\\r?$`, 'm').test(outputOf(frames)), 10_000)
    .catch((error: unknown) => (terminal.closed() ? false : Promise.reject(error)));
  return seen ? 'answers' : 'ended';
}

/**
 * Kills, and waits until it runs as another process and the API has its database again; when that
 * was, since the epoch.
 */
async function killAndReturn(world: World, part: Part): Promise<number> {
  const before = await startOf(world, part);
  await killNine(world, part);
  await world.until(`${part.name} running again`, 60, async () => {
    const now = await startOf(world, part);
    return runs(now) && now !== before;
  });
  await world.until(
    'the API and its database',
    30,
    async () => (await world.api('GET', '/healthz', null).catch(() => null))?.status === 200,
  );
  return Date.now();
}

/** As the provider sees them; nothing else would miss them. */
async function guestAgentsUp(world: World): Promise<boolean> {
  const asked = Object.keys(world.profile.nodes).map((node) =>
    world.call(
      'GET',
      `${world.profile.endpoints.provider}/v1/nodes/${node}/guest-agent`,
      world.operatorToken,
    ),
  );
  return (await Promise.all(asked)).every(({ json }) => json?.guest_agent === 'up');
}

/**
 * Every task in exactly one end, in time. While nothing can be written nothing can end: the sweep
 * counts from when it can.
 */
async function allEnded(world: World, ids: readonly string[], back: number): Promise<Task[]> {
  const sweepMs = (world.profile.policies['node.task_stale_sweep_interval_seconds'] ?? 60) * 1000;
  const due = (task: Task): number =>
    Math.max(Date.parse(task.expires_at), back) + sweepMs + slackMs;
  let open = [...ids];
  const ended: Task[] = [];
  await world.until('the end of every task', 120, async () => {
    const read = await readTasks(world, open);
    ended.push(...read.filter(isFinal));
    const late = read.filter((task) => !isFinal(task) && due(task) < Date.now());
    expect(late, 'tasks without an end after expires_at plus one sweep').toEqual([]);
    open = read.filter((task) => !isFinal(task)).map((task) => task.task_id);
    return open.length === 0;
  });
  for (const task of ended) {
    expect(
      Date.parse(task.completed_at) - due(task),
      `${task.task_id} (${task.task_type}, ${task.status}) too late`,
    ).toBeLessThanOrEqual(0);
  }
  return ended;
}

async function effectsFit(world: World, tasks: readonly Task[], since: Date): Promise<void> {
  const counted = new Map<string, number>();
  for (const node of Object.keys(world.profile.nodes)) {
    for (const [id, count] of await effects(world, node, since))
      counted.set(id, (counted.get(id) ?? 0) + count);
  }
  expect(
    [...counted].filter(([, count]) => count > 1),
    'effects that happened twice',
  ).toEqual([]);
  const completed = tasks.filter(
    (task) => task.task_type === 'allocation.provision_user' && task.status === 'completed',
  );
  expect(
    completed.filter((task) => counted.get(task.task_id) !== 1).map((task) => task.task_id),
    'completed without its effect',
  ).toEqual([]);
}

const tally = (tasks: readonly Task[]): string => {
  const counts = new Map<string, number>();
  for (const { status } of tasks) counts.set(status, (counts.get(status) ?? 0) + 1);
  return [...counts]
    .map(([status, count]) => `${count} ${status}`)
    .sort()
    .join(', ');
};

async function survive(world: World, part: Part): Promise<void> {
  await world.untilGreen(60);
  const since = new Date();
  const terminal = await world.terminal('node-1');
  try {
    await terminal.waitFor(
      (frames) =>
        frames.some(({ kind, text }) => kind === 'text' && JSON.parse(text).type === 'ready'),
      15_000,
    );
    expect(await answersOrEnded(terminal)).toBe('answers');
    let killed: Promise<number> = Promise.reject(new Error('never killed'));
    killed.catch(() => undefined);
    const ids = await enqueue(world, tasksWanted, {
      accepted: tasksWanted / 2,
      call: () => {
        killed = killAndReturn(world, part);
        killed.catch(() => undefined);
      },
    });
    const back = await killed;
    await world.untilGreen(60);
    await world.until('both guest agents', 20, () => guestAgentsUp(world));
    const greenAfter = (Date.now() - back) / 1000;
    const fate = await answersOrEnded(terminal);
    if (part.terminalStays) expect(fate, 'the terminal that was open').toBe('answers');
    const ended = await allEnded(world, ids, back);
    expect(new Set(ended.map((task) => task.task_id)).size).toBe(tasksWanted);
    const again = new Map((await readTasks(world, ids)).map((task) => [task.task_id, task.status]));
    expect(
      ended.filter((task) => again.get(task.task_id) !== task.status),
      'ends that changed',
    ).toEqual([]);
    await effectsFit(world, ended, since);
    process.stdout.write(
      `      ${part.name}: green ${greenAfter.toFixed(1)} s after it was back; terminal ${fate}; ${tally(ended)}\n`,
    );
  } finally {
    await terminal.close();
  }
}

describe('kill -9 under a terminal and 200 tasks', () => {
  const world = new World();
  test.for(sample('killed parts', parts, 3))('$name', async (part) => survive(world, part));
});
