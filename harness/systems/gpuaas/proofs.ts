import type { Proof } from '../hooks.ts';
import { api, mustOnNode, nodeModel, nodeOf, taskDone } from './platform.ts';
import { beat, stale, terminalSeconds } from './policies.ts';
import { tryTerminal } from './terminal.ts';

/**
 * What must be true before "recovered" (seed 001; RULINGS 5). Each asks the platform, none looks at
 * what was broken.
 */
const heartbeatCurrent: Proof = {
  title: 'the node polls with its certificate, and its heartbeat is younger than two beats',
  within: (policies) => stale(policies) + 2 * beat(policies),
  async check(context) {
    const { heartbeat, recovery } = await nodeModel(context);
    const limit = 2000 * beat(context.profile.policies) + 1500;
    const ok = !heartbeat.stale && heartbeat.age_ms <= limit && recovery.reason === null;
    return {
      ok,
      detail: `heartbeat ${heartbeat.age_ms} ms old (limit ${limit}), operator reason ${recovery.reason ?? 'none'}`,
    };
  },
};

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

const terminalReady: Proof = {
  title: 'a user opens a terminal and the shell computes an answer',
  within: (policies) => terminalSeconds(policies) + 5,
  async check(context) {
    const found = await tryTerminal(context, 1000 * terminalSeconds(context.profile.policies));
    return { ok: found.answered, detail: found.answered ? 'the shell answered' : found.detail };
  },
};

const certTrusted: Proof = {
  title: 'the certificate on the node is the one that the ingress accepted at the last poll',
  within: (policies) => stale(policies) + 2 * beat(policies),
  async check(context) {
    const { heartbeat } = await nodeModel(context);
    const serial = await mustOnNode(context, [
      'openssl',
      'x509',
      '-noout',
      '-serial',
      '-in',
      '/etc/gpuaas/cert.pem',
    ]);
    const onNode = plainSerial(serial.split('=')[1] ?? '');
    const accepted = plainSerial(heartbeat.cert_serial ?? '');
    const lives =
      heartbeat.cert_not_after !== null && Date.parse(heartbeat.cert_not_after) > Date.now();
    return {
      ok: lives && onNode !== '' && onNode === accepted,
      detail: `on the node ${onNode}, accepted ${accepted}, until ${heartbeat.cert_not_after}`,
    };
  },
};

const noStaleTasks: Proof = {
  title: 'no expired task is shown as current',
  within: (policies) =>
    (policies['node.task_lease_seconds'] ?? 90) +
    2 * (policies['node.task_stale_sweep_interval_seconds'] ?? 60),
  async check(context) {
    const { tasks, agent_status } = await nodeModel(context);
    return {
      ok: tasks.expired_queued === 0 && agent_status === 'healthy',
      detail: `${tasks.expired_queued} expired and queued, agent ${agent_status}`,
    };
  },
};

function plainSerial(text: string): string {
  return text
    .trim()
    .replace(/[^0-9a-f]/gi, '')
    .replace(/^0+/, '')
    .toLowerCase();
}

/** `preflight-green` is the core's own. */
export const proofs: Readonly<Record<string, Proof>> = {
  'heartbeat-current': heartbeatCurrent,
  'task-roundtrip': taskRoundtrip,
  'terminal-ready': terminalReady,
  'cert-trusted': certTrusted,
  'no-stale-tasks': noStaleTasks,
};
