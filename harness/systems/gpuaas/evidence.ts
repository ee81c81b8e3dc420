import { openDocker } from '../../drivers/docker.ts';
import { openToxiproxy } from '../../drivers/toxiproxy.ts';
import type { EvidenceSource, HookContext } from '../hooks.ts';
import { nodeEvidence } from './evidence-node.ts';
import { api, gatewayApi, nodeOf } from './platform.ts';
import { containerOf, logOf } from './views/lines.ts';

/**
 * What an operator would ask for at three in the morning, cut to the window of the run. `texts` are
 * the catalogue's own words.
 */
const json = (value: unknown): string => `${JSON.stringify(value, null, 2)}\n`;

const source = (
  file: string,
  title: string,
  collect: (context: HookContext) => Promise<string>,
  texts: readonly string[] = [],
  onlyWhenAsked = false,
): EvidenceSource => ({ file, title, texts, collect, onlyWhenAsked });

function containerLog(part: string, texts: readonly string[] = []): EvidenceSource {
  return source(`log-${part}.txt`, `log of ${part}`, (context) => logOf(context, part), texts);
}

/** What the judged preflight measured at some hops: its probes are the helper's. */
function measured(
  file: string,
  title: string,
  hops: readonly string[],
  texts: readonly string[],
): EvidenceSource {
  const collect = (context: HookContext): Promise<string> => {
    const found =
      context.report?.hops.filter(
        (hop) => hops.includes(hop.id) && hop.status !== 'skipped' && hop.status !== 'not_run',
      ) ?? [];
    if (found.length < hops.length)
      throw new Error(
        `the preflight asked ${found.map((hop) => hop.id).join(', ') || 'none'} of ${hops.join(', ')}`,
      );
    return Promise.resolve(json({ correlation_id: context.correlationId, hops: found }));
  };
  return source(file, title, collect, texts);
}

/** The terminal session that the judged preflight opened. */
const sessionOf = ({ subject }: HookContext): string | null => subject?.session_id ?? null;

/** Where the session is bound: the store itself, the way to it, and what stands in it. */
async function redisBinding(context: HookContext): Promise<string> {
  const container = containerOf(context, 'redis');
  const { links } = context.profile;
  const asked = ['redis-cli', '--scan', '--pattern', `session:${sessionOf(context) ?? '*'}`];
  const [state, link, keys] = await Promise.all([
    openDocker().inspect(container),
    links === undefined ? null : openToxiproxy(links.toxiproxy).read('gateway.redis').catch(String),
    openDocker()
      .exec(container, asked)
      .then((result) => result.stdout.split('\n').filter((key) => key !== ''), String),
  ]);
  return json({ session_id: sessionOf(context), container: state, link, keys });
}

/** The order that made the allocation's user on the node, and what came of it. */
async function userSetup(context: HookContext): Promise<string> {
  const { rows } = await api<{ rows: { target: string; at: string }[] }>(
    context,
    'GET',
    '/v1/audit?action=task.enqueue',
  );
  const orders = rows.filter(({ target }) =>
    target.startsWith(`${nodeOf(context).name}/allocation.provision_user/`),
  );
  const ids = orders.map(({ target }) => target.split('/')[2] ?? '').slice(-5);
  if (ids.length === 0)
    throw new Error(`no allocation.provision_user for ${nodeOf(context).name} in the audit`);
  return json(await Promise.all(ids.map((id) => api(context, 'GET', `/v1/tasks/${id}`))));
}

async function gatewayRecords(context: HookContext): Promise<string> {
  const since = encodeURIComponent(context.since);
  const id = sessionOf(context);
  const [session, refusals] = await Promise.all([
    id === null ? null : gatewayApi(context, `/v1/sessions/${id}/observations`),
    gatewayApi(context, `/v1/tls-refusals?since=${since}`),
  ]);
  return json({ session, tls: refusals });
}

const platform: Readonly<Record<string, EvidenceSource>> = {
  'node-read-model': {
    file: 'node-read-model.json',
    title: 'the platform on this node',
    texts: ['Node read model heartbeat summary', 'Latest operation ID/status'],
    view: { node: {} },
  },
  allocation: {
    file: 'allocation.json',
    title: 'the allocation as its user sees it',
    texts: ['allocation/node IDs', 'allocation ID'],
    view: { 'allocation.app': { as: 'user' } },
  },
  history: {
    file: 'node-history.json',
    title: 'changes of the classified status',
    view: { history: {} },
  },
  audit: { file: 'audit.json', title: 'audit rows of the window', view: { audit: {} } },
  'audit-of-preflight': source(
    'audit-correlation.json',
    'the correlation id of the judged preflight, and its audit rows',
    async (context) => {
      if (context.correlationId === undefined) throw new Error('no preflight was judged');
      const found = await api<object>(
        context,
        'GET',
        `/v1/audit?correlation_id=${context.correlationId}`,
      );
      return json({ correlation_id: context.correlationId, ...found });
    },
    ['correlation ID', 'token mint correlation ID'],
  ),
  'terminal-session': source(
    'terminal-session.json',
    'the terminal session of the judged preflight',
    async (context) => {
      const id = sessionOf(context);
      return json(id === null ? null : await api(context, 'GET', `/v1/terminal/sessions/${id}`));
    },
  ),
  'user-setup': source(
    'user-setup.json',
    "the tasks that make the allocations' users",
    userSetup,
    ['user setup task evidence'],
    true,
  ),
  'user-view': source(
    'user-view.json',
    'what the user was told',
    (context) => {
      if (context.user === undefined || context.user.message === null)
        throw new Error('the user was shown no message');
      return Promise.resolve(json(context.user));
    },
    ['browser close/error', 'browser-visible message'],
  ),
};

const probes: Readonly<Record<string, EvidenceSource>> = {
  'probe-ssh': measured(
    'probe-ssh.json',
    'SSH beside the way that the agent takes',
    ['node_ops_access', 'node_runtime_api_reachability'],
    ['Helper SSH probe detail', 'SSH path versus node-agent API path comparison'],
  ),
  'probe-api': measured(
    'probe-api.json',
    "the API's answer to the node",
    ['node_runtime_api_reachability'],
    ['API auth response'],
  ),
  'probe-public': measured(
    'probe-public.json',
    'the public terminal route',
    ['terminal_public_route'],
    ['HTTP status from terminal `/healthz`'],
  ),
  'probe-browser': measured(
    'probe-browser.json',
    'the upgrade as a browser makes it',
    ['browser_terminal_ws'],
    ['Gateway close code/reason'],
  ),
  'probe-node-terminal': measured(
    'probe-node-terminal.json',
    'the terminal listener from the node',
    ['node_terminal_reachability'],
    ['Helper node-side terminal probe'],
  ),
};

const parts: Readonly<Record<string, EvidenceSource>> = {
  'gateway-records': source(
    'gateway-records.json',
    'what the gateway observed of the session, and TLS refusals',
    gatewayRecords,
    [
      'gateway `node_stream_timeout`',
      'Gateway timeout/error frame',
      'Gateway TLS/client-cert error',
    ],
  ),
  'redis-binding': source(
    'redis-binding.json',
    'the store of session bindings and the way to it',
    redisBinding,
    ['Redis/session binding'],
    true,
  ),
  // Not `nginx -T`: that would print the map of login cookies too.
  'edge-routes': source(
    'edge-routes.txt',
    'routes of the edge as they are configured',
    async (context) => {
      const files = '/etc/nginx/conf.d/*.conf';
      const { stdout } = await openDocker().exec(containerOf(context, 'edge'), [
        'sh',
        '-c',
        `for f in ${files}; do echo "# $f"; cat $f; done`,
      ]);
      if (!stdout.includes('server_name')) throw new Error(`no server in ${files}`);
      return stdout;
    },
    ['edge route config'],
    true,
  ),
  'log-api': containerLog('api'),
  'log-gateway': containerLog('gateway'),
  'log-ingress': containerLog('ingress'),
  'log-edge': containerLog('edge'),
};

export const evidence: Readonly<Record<string, EvidenceSource>> = {
  ...platform,
  ...probes,
  ...nodeEvidence,
  ...parts,
};
