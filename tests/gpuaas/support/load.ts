// Work for both nodes, as operators and the platform itself give it: probes, and provisioning,
// whose effect is counted.
import { setTimeout as sleep } from 'node:timers/promises';
import type { Json, World } from './world.ts';

export type Task = Json & {
  readonly task_id: string;
  readonly node_id: string;
  readonly task_type: string;
};

const finals = new Set(['completed', 'failed', 'expired']);
export const isFinal = (task: Task): boolean => finals.has(task.status);

/** In every five: one user provisioned, one application probed, three machines asked. */
async function enqueueOne(world: World, index: number): Promise<string | null> {
  const node = index % 2 === 0 ? 'node-1' : 'node-2';
  const allocation = world.allocationOf(node);
  const ask = (path: string, body: object) =>
    world.api('POST', path, world.operatorToken, body).catch(() => null);
  const probe = (type: string, params: object) =>
    ask(`/v1/nodes/${node}/tasks`, { task_type: type, params });
  const kind = index % 5;
  const asked = () => {
    if (kind === 0) return ask(`/v1/allocations/${allocation}/provision`, {});
    return kind === 1
      ? probe('app.status_probe', { allocation_id: allocation })
      : probe('diag.health_probe', {});
  };
  const answer = await asked();
  return answer?.status === 202 ? answer.json.task_id : null;
}

/**
 * Until so many are accepted; what a broken platform refuses is asked again. `at` is called once
 * that many were.
 */
export async function enqueue(
  world: World,
  wanted: number,
  at: { readonly accepted: number; call(): void },
): Promise<string[]> {
  const ids: string[] = [];
  let begun = 0;
  const end = performance.now() + 90_000;
  const work = async (): Promise<void> => {
    while (begun < wanted) {
      const index = begun++;
      let id = await enqueueOne(world, index);
      while (id === null) {
        if (performance.now() > end)
          throw new Error(`only ${ids.length} of ${wanted} tasks were accepted within 90 s`);
        await sleep(200);
        id = await enqueueOne(world, index);
      }
      if (ids.push(id) === at.accepted) at.call();
    }
  };
  await Promise.all(Array.from({ length: 8 }, work));
  return ids;
}

/**
 * The edge lets a person ask so often a second, and a quick machine asks more: then it is asked
 * again, a little later.
 */
async function readTask(world: World, id: string): Promise<Task> {
  for (;;) {
    const { status, json } = await world.api('GET', `/v1/tasks/${id}`);
    if (status === 429) await sleep(100);
    else if (json?.task_id === id) return json;
    else throw new Error(`task ${id}: ${JSON.stringify(json)}`);
  }
}

export async function readTasks(world: World, ids: readonly string[]): Promise<Task[]> {
  const tasks: Task[] = [];
  const left = [...ids];
  const work = async (): Promise<void> => {
    for (let id = left.pop(); id !== undefined; id = left.pop())
      tasks.push(await readTask(world, id));
  };
  await Promise.all(Array.from({ length: 6 }, work));
  return tasks;
}

/**
 * How often each task took effect, by the audit lines that the node's own script leaves in the
 * journal.
 */
export async function effects(
  world: World,
  node: string,
  since: Date,
): Promise<Map<string, number>> {
  const epoch = (since.getTime() / 1000).toFixed(3);
  const lines = await world.must(
    node,
    `journalctl -t gpuaas-provision --since=@${epoch} -o cat --no-pager --quiet`,
  );
  const counts = new Map<string, number>();
  for (const [, id] of lines.matchAll(/ ready for task (\S+)/g))
    counts.set(id!, (counts.get(id!) ?? 0) + 1);
  return counts;
}
