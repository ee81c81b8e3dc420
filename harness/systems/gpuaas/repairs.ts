import { type HookContext, Refused, type Repair } from '../hooks.ts';
import { api, mustOnNode, nodeOf, taskDone } from './platform.ts';

/**
 * The platform's own procedures, as its operators run them: its API and its commands on a node,
 * never its database.
 */
const unitOf = (context: HookContext): string => nodeOf(context).node.agentUnit;

const agentRestart: Repair = {
  title: 'restart the node agent',
  command: 'systemctl restart gpuaas-node-agent.service',
  mends: [],
  run: async (context) => `restarted ${await unit(context, 'restart')}`,
};

const agentStart: Repair = {
  title: 'start the node agent',
  command:
    'systemctl unmask gpuaas-node-agent.service && systemctl start gpuaas-node-agent.service',
  mends: ['process.kill', 'service.stop'],
  async run(context) {
    await mustOnNode(context, ['systemctl', 'unmask', '--runtime', unitOf(context)]);
    await mustOnNode(context, ['systemctl', 'reset-failed', unitOf(context)]).catch(() => '');
    return `started ${await unit(context, 'start')}`;
  },
};

async function unit(context: HookContext, verb: 'restart' | 'start'): Promise<string> {
  await mustOnNode(context, ['systemctl', verb, unitOf(context)]);
  return unitOf(context);
}

/** One bundle rewrites endpoints, trust and token together (seed 001): never only a token. */
async function applyBundle(context: HookContext): Promise<void> {
  const bundle = await api<unknown>(
    context,
    'POST',
    `/v1/nodes/${nodeOf(context).name}/repair-bundle`,
    { body: {} },
  );
  const script =
    'umask 077; f=$(mktemp /run/repair-bundle.XXXXXX); trap "rm -f $f" EXIT; cat > "$f"; gpuaas-node-bootstrap apply-bundle "$f"';
  await mustOnNode(context, ['sh', '-c', script], JSON.stringify(bundle), 30_000);
}

const profileApplyBundle: Repair = {
  title: 'apply a repair bundle: endpoints, trust bundles and recovery token together',
  command: 'POST /v1/nodes/{id}/repair-bundle, then gpuaas-node-bootstrap apply-bundle FILE',
  mends: ['tls.client-cert', 'tls.stale-ca'],
  async run(context) {
    await applyBundle(context);
    return 'bundle applied, agent restarted';
  },
};

const pkiReissue: Repair = {
  title: 'issue a new certificate to the node through recovery enrolment',
  command:
    'POST /v1/nodes/{id}/repair-bundle, gpuaas-node-bootstrap apply-bundle FILE, then gpuaas-node-bootstrap enrol',
  mends: ['tls.client-cert'],
  async run(context) {
    await applyBundle(context);
    const said = await mustOnNode(context, ['gpuaas-node-bootstrap', 'enrol'], undefined, 30_000);
    return `enrolled again: ${said.trim().split('\n').at(-1) ?? ''}`;
  },
};

const nodeReconcile: Repair = {
  title: 'bring names and endpoints of the node in line with its profile',
  command: 'gpuaas-node-bootstrap reconcile',
  mends: ['dns.break'],
  run: async (context) =>
    (await mustOnNode(context, ['gpuaas-node-bootstrap', 'reconcile'])).trim(),
};

const allocationProvision: Repair = {
  title: 'provision the allocation again (user, home, app)',
  command: 'POST /v1/allocations/{id}/provision',
  mends: ['user.shell', 'user.remove'],
  async run(context) {
    const { node } = nodeOf(context);
    const { task_id } = await api<{ task_id: string }>(
      context,
      'POST',
      `/v1/allocations/${node.allocation}/provision`,
      { body: {} },
    );
    const task = await taskDone(context, task_id, 30_000);
    if (task.status !== 'completed')
      throw new Refused(`task ${task_id} is ${task.status}: ${task.error ?? ''}`);
    return `task ${task_id} completed`;
  },
};

const freeDisk: Repair = {
  title: 'rotate and drop local observability buffers',
  command: 'journalctl --rotate; journalctl --vacuum-size=1M',
  mends: ['disk.fill'],
  run: async (context) =>
    (
      await mustOnNode(context, [
        'sh',
        '-c',
        'journalctl --rotate; journalctl --vacuum-size=1M 2>&1 | tail -n 1; df -h / | tail -n 1',
      ])
    ).trim(),
};

const certRenew: Repair = {
  title: 'renew the certificate of a running agent',
  command: 'gpuaas-node-bootstrap renew',
  mends: [],
  run: async (context) =>
    (await mustOnNode(context, ['gpuaas-node-bootstrap', 'renew'], undefined, 30_000)).trim(),
};

export const repairs: Readonly<Record<string, Repair>> = {
  'agent.restart': agentRestart,
  'agent.start': agentStart,
  'node.apply-bundle': profileApplyBundle,
  'pki.reissue-node-cert': pkiReissue,
  'pki.renew-node-cert': certRenew,
  'node.reconcile-names': nodeReconcile,
  'node.free-disk': freeDisk,
  'allocation.provision-user': allocationProvision,
};
