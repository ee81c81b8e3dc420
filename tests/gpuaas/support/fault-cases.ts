// One row per way of each fault; the conformance suite runs them all, the kill matrix takes one of
// each undo kind.
import type { Witness } from './row.ts';
import { answers, diagnostic, nodeSays, readModel, systemd, terminal } from './witnesses.ts';

export interface FaultCase {
  readonly fault: string;
  readonly params: Record<string, unknown>;
  /** What depends on the broken thing notices. */
  readonly felt: Witness;
  /**
   * The agent heals this by itself over this link, quicker than one can look: shut until the fault
   * was seen. What the agent made then stays.
   */
  readonly healsOver?: string;
}

/**
 * What the agent's own record says is wrong now, as `reason phase code`; that it has just started
 * is no complaint.
 */
const says = (pattern: RegExp, node = 'node-1'): Witness =>
  diagnostic(
    String(pattern),
    ({ reason, phase, code }) => pattern.test(`${reason} ${phase} ${code}`),
    node,
  );
const pollFails = says(/^task_poll_failed /);
const unresolved = says(/^task_poll_failed dns /);
const unknownName = says(/^task_poll_failed dns ENOTFOUND/);
const untrusted = says(/^server_tls_untrusted tls /);
const noToken = says(/^recovery_token_missing /);
const cannotEnrol = says(/^recovery_enrollment_blocked /);
const edgeRefuses = nodeSays(
  'the edge refuses the agent',
  "setpriv --reuid gpuaas --clear-groups timeout 2 bash -c 'exec 3<>/dev/tcp/api.gpuaas.test/443'",
  /Connection refused/,
);
const noTerminal = terminal(/^(?!ready)/);
const silent = readModel('no heartbeat for two beats', (model) => model.heartbeat.age_ms > 3000);
const fuller = (percent: number): Witness =>
  readModel(`the node says ${percent} %`, (model) => model.heartbeat.root_used_percent >= percent);
const lost = terminal(/^session_binding_unavailable/);
const resultKept = answers('the result of a task does not arrive', async (world) => {
  await world.api('POST', '/v1/nodes/node-1/tasks', world.operatorToken, {
    task_type: 'diag.health_probe',
    params: {},
  });
  return (await world.diagnostic('node-1'))?.current?.reason === 'task_result_post_failed';
});
const slowTerminal = answers('a terminal takes longer', async (world) => {
  const start = performance.now();
  await world.tryTerminal('node-1');
  return performance.now() - start > 700;
});
const noGateway = answers('the public host is not the gateway', async (world) => {
  const answer = await world.terminalHost('GET', '/healthz').catch(() => null);
  return answer === null || answer.headers['x-gpuaas-product'] !== 'gateway';
});

export const faultCases: readonly FaultCase[] = [
  { fault: 'egress.block', params: { to: 'node-api', mode: 'drop' }, felt: pollFails },
  { fault: 'egress.block', params: { to: 'term', mode: 'reject' }, felt: noTerminal },
  { fault: 'egress.block', params: { to: 'edge', mode: 'reject' }, felt: edgeRefuses },
  { fault: 'egress.block', params: { to: 'dns', mode: 'drop' }, felt: unresolved },
  { fault: 'dns.break', params: { mode: 'nxdomain' }, felt: unknownName },
  { fault: 'dns.break', params: { mode: 'timeout' }, felt: unresolved },
  {
    fault: 'dns.break',
    params: { mode: 'wrong-answer' },
    felt: says(/^task_poll_failed tcp ECONNREFUSED/),
  },
  { fault: 'dns.break', params: { mode: 'wrong-answer', answer: 'edge' }, felt: untrusted },
  {
    fault: 'dns.break',
    params: { on: 'node-2', mode: 'missing-entry' },
    felt: says(/^task_poll_failed dns ENOTFOUND/, 'node-2'),
  },
  {
    fault: 'ssh.refuse',
    params: {},
    felt: answers(
      'a new login fails',
      async (world) => (await world.ssh('node-1', 'true')).code !== 0,
    ),
  },
  { fault: 'tls.stale-ca', params: {}, felt: untrusted },
  { fault: 'tls.client-cert', params: { kind: 'expired', token: 'remove' }, felt: noToken },
  { fault: 'tls.client-cert', params: { kind: 'untrusted', token: 'remove' }, felt: noToken },
  {
    fault: 'tls.client-cert',
    params: { kind: 'expired', token: 'keep' },
    felt: cannotEnrol,
    healsOver: 'node-1.recovery',
  },
  {
    fault: 'tls.client-cert',
    params: { kind: 'other-node' },
    felt: cannotEnrol,
    healsOver: 'node-1.recovery',
  },
  { fault: 'tls.trust-ca', params: { part: 'gateway' }, felt: noTerminal },
  {
    fault: 'tls.trust-ca',
    params: { part: 'ingress' },
    felt: says(/^(task_poll_failed|cert_untrusted_by_ingress) \S+ client_cert_rejected/),
  },
  { fault: 'service.stop', params: {}, felt: silent },
  { fault: 'service.stop', params: { how: 'mask' }, felt: silent },
  { fault: 'process.kill', params: {}, felt: silent },
  { fault: 'process.pause', params: {}, felt: silent },
  {
    fault: 'config.set',
    params: { file: '/etc/gpuaas/env', key: 'GPUAAS_API_URL', value: 'https://api.gpuaas.test:1' },
    felt: pollFails,
  },
  {
    fault: 'config.set',
    params: {
      on: 'ingress',
      file: '/etc/nginx/nginx.conf',
      key: 'client_max_body_size',
      separator: ' ',
      value: '1;',
      readers: 'reload',
    },
    felt: resultKept,
  },
  { fault: 'node.reboot', params: {}, felt: systemd(/Started .*agent/) },
  { fault: 'node.fence', params: {}, felt: says(/^identity_revoked /) },
  { fault: 'disk.fill', params: {}, felt: fuller(99) },
  { fault: 'disk.fill', params: { fill: '95%' }, felt: fuller(94) },
  { fault: 'pty.delay', params: {}, felt: terminal(/^pty_ready_timeout/) },
  { fault: 'user.remove', params: {}, felt: terminal(/^pty_failed:user_missing/) },
  { fault: 'user.shell', params: { shell: '/bin/false' }, felt: terminal(/^pty_failed/) },
  { fault: 'user.shell', params: { shell: 'hanging' }, felt: terminal(/^pty_ready_timeout/) },
  { fault: 'link.cut', params: { link: 'node.node-api' }, felt: pollFails },
  { fault: 'link.cut', params: { link: 'node.term', how: 'blackhole' }, felt: noTerminal },
  { fault: 'link.cut', params: { link: 'gateway.redis', how: 'reset' }, felt: lost },
  { fault: 'link.latency', params: { link: 'node.term', ms: 600, jitter: 20 }, felt: slowTerminal },
  { fault: 'container.stop', params: { part: 'redis' }, felt: lost },
  { fault: 'container.stop', params: { part: 'gateway', how: 'pause' }, felt: noGateway },
  { fault: 'container.stop', params: { part: 'redis', how: 'kill' }, felt: lost },
  { fault: 'edge.route-remove', params: { host: 'terminal' }, felt: noGateway },
  {
    fault: 'http.refuse',
    params: { at: 'ingress', method: 'POST', path: '/internal/v1/nodes/node-1/tasks/*/result' },
    felt: resultKept,
  },
  {
    fault: 'http.refuse',
    params: { at: 'edge', method: 'GET', path: '/v1/nodes/*', status: 429 },
    felt: answers(
      'the operator is refused',
      async (world) => (await world.api('GET', '/v1/nodes/node-1')).status === 429,
    ),
  },
  { fault: 'websocket.upgrade-strip', params: { strip: 'upgrade' }, felt: noTerminal },
  { fault: 'websocket.upgrade-strip', params: { strip: 'subprotocol' }, felt: noTerminal },
];

export const titleOf = ({ fault, params }: Pick<FaultCase, 'fault' | 'params'>): string =>
  `${fault} ${Object.values(params).join(' ')}`.trim();

/** One for each way in which something is put back. */
export const killCases: Readonly<Record<string, Pick<FaultCase, 'fault' | 'params'>>> = {
  'node-rule': { fault: 'egress.block', params: { to: 'node-api', mode: 'drop' } },
  'node-file': { fault: 'tls.stale-ca', params: {} },
  unit: { fault: 'service.stop', params: { how: 'mask' } },
  user: { fault: 'user.remove', params: {} },
  disk: { fault: 'disk.fill', params: {} },
  container: { fault: 'container.stop', params: { part: 'redis' } },
  toxic: { fault: 'link.cut', params: { link: 'node.term', how: 'blackhole' } },
  'part-file': {
    fault: 'http.refuse',
    params: { at: 'ingress', method: 'POST', path: '/internal/v1/nodes/node-1/tasks/*/result' },
  },
  process: { fault: 'process.kill', params: {} },
  slot: { fault: 'audit.slot', params: {} },
  api: { fault: 'node.fence', params: {} },
  config: {
    fault: 'config.set',
    params: { file: '/etc/gpuaas/env', key: 'GPUAAS_API_URL', value: 'https://api.gpuaas.test:1' },
  },
};
