import { z } from 'zod';
import { defineView } from '../../view.ts';
import { mustOnNode, type NodeModel, nodeModel } from '../platform.ts';
import { beat, stale } from '../policies.ts';

/** What the platform says of the node that the run is about. */
const fields = z.looseObject({
  agent_status: z.string(),
  lifecycle: z.string(),
  reason: z.string().nullable().describe('what operators are told'),
  user_state: z.string(),
  message: z.string(),
  heartbeat_at: z.string().nullable(),
  heartbeat_age_ms: z.number(),
  heartbeat_stale: z.boolean(),
  heartbeat_late_ms: z
    .number()
    .describe('older than two polls and a moment by so much; 0: it is not'),
  down_reported: z.boolean().describe('the agent is said to be down or out of reach'),
  unreachable_reported: z.boolean().describe('said is only that nothing was heard'),
  cert_serial: z.string().nullable(),
  cert_not_after: z.string().nullable(),
});

/** Two polls, and a moment for the way. */
const heartbeatMs = (beatSeconds: number): number => 2000 * beatSeconds + 1500;

export function nodeRow(
  model: Pick<NodeModel, 'agent_status' | 'lifecycle' | 'heartbeat' | 'recovery'>,
  beatSeconds: number,
): z.infer<typeof fields> {
  const { agent_status, heartbeat, recovery } = model;
  const { reason } = recovery;
  const nothingHeard = ['agent_down', 'node_agent_unreachable'].includes(reason ?? '');
  return {
    ...model,
    ...{ reason, user_state: recovery.user_state, message: recovery.message },
    heartbeat_at: heartbeat.at,
    heartbeat_age_ms: heartbeat.age_ms,
    heartbeat_stale: heartbeat.stale,
    heartbeat_late_ms: Math.max(0, heartbeat.age_ms - heartbeatMs(beatSeconds)),
    down_reported: agent_status !== 'healthy' || heartbeat.stale || reason === 'agent_down',
    unreachable_reported: nothingHeard || ['stale', 'unknown'].includes(agent_status),
    cert_serial: heartbeat.cert_serial,
    cert_not_after: heartbeat.cert_not_after,
  };
}

export const node = defineView({
  title: 'the platform on the node: status, heartbeat, what operators and users are told',
  fields,
  within: (policies) => stale(policies) + 2 * beat(policies),
  read: async (context) => nodeRow(await nodeModel(context), beat(context.profile.policies)),
});

/** A counter that never counted is not there. */
const count = z.number().default(0);

export const nodeCounters = defineView({
  title: 'what the platform counted of the node',
  fields: z.looseObject({ recovery_attempts: count, recovery_successes: count }),
  read: async (context) => (await nodeModel(context)).counters,
});

export const tasks = defineView({
  title: 'how many tasks of the node stand where',
  fields: z.object({
    queued: z.number(),
    dispatched: z.number(),
    expired_queued: z.number().describe('shown as current although their time is over'),
    failed_results: z.number(),
  }),
  within: (policies) =>
    (policies['node.task_lease_seconds'] ?? 90) +
    2 * (policies['node.task_stale_sweep_interval_seconds'] ?? 60),
  read: async (context) => (await nodeModel(context)).tasks,
});

const byHand = "grep -E 'gpuaas\\.test' /etc/hosts | grep -v '# gpuaas-node-bootstrap' | wc -l";

export const nodeNames = defineView({
  title: "names of the platform in the node's hosts file",
  fields: z.object({ by_hand: z.number().describe('entries that no bootstrap wrote') }),
  read: async (context) => ({
    by_hand: Number((await mustOnNode(context, ['sh', '-c', byHand])).trim()),
  }),
});
