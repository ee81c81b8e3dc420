import type { Proof } from '../hooks.ts';
import { api, nodeOf, taskDone } from './platform.ts';
import { beat } from './policies.ts';

/**
 * What must be true before "recovered". Each asks the platform, none looks at
 * what was broken.
 */
const taskRoundtrip: Proof = {
  title: 'a typed probe task is claimed, run and answered',
  within: (policies) => 3 * beat(policies) + 10,
  async check(context) {
    const { task_id } = await api<{ task_id: string }>(
      context,
      'POST',
      `/v1/nodes/${nodeOf(context).name}/tasks`,
      {
        body: { task_type: 'diag.health_probe', params: {} },
      },
    );
    const task = await taskDone(context, task_id, 3000 * beat(context.profile.policies) + 3000);
    return {
      ok: task.status === 'completed',
      detail: `task ${task_id} is ${task.status}${task.error === null ? '' : `: ${task.error}`}`,
    };
  },
};

/** `preflight-green` is the core's own. */
export const proofs: Readonly<Record<string, Proof>> = {
  'heartbeat-current': {
    title: 'the node polls with its certificate, and its heartbeat is younger than two beats',
    observe: [{ node: { is: { heartbeat_stale: false, heartbeat_late_ms: 0, reason: null } } }],
  },
  'task-roundtrip': taskRoundtrip,
  'terminal-ready': {
    title: 'a user opens a terminal and the shell computes an answer',
    observe: [{ terminal: { is: { answered: true } } }],
  },
  'cert-trusted': {
    title: 'the certificate on the node is the one that the ingress accepted at the last poll',
    observe: [{ trust: { is: { accepted_is_on_node: true, valid: true } } }],
  },
  'no-stale-tasks': {
    title: 'no expired task is shown as current',
    observe: [
      { tasks: { is: { expired_queued: 0 } } },
      { node: { is: { agent_status: 'healthy' } } },
    ],
  },
};
