// What happens on a node: its agent, its way out, its disk, its clock.
import { expect } from 'vitest';
import type { Row } from '../support/row.ts';
import {
  by,
  diagnostic,
  journal,
  log,
  nodeSays,
  readModel,
  terminal,
} from '../support/witnesses.ts';
import {
  agentClockBack,
  cannotWrite,
  fillRoot,
  freeRoot,
  restart,
  setAgentClock,
  stale,
  unit,
} from './common.ts';
import * as places from './places.ts';

const reject = (port: number) =>
  `iptables -I OUTPUT -p tcp --dport ${port} -j REJECT --reject-with tcp-reset`;

/** Someone else's CA under the very same name: what a stale bundle looks like. */
const foreignBundle =
  'cp -a /etc/gpuaas/ca-bundle.crt /root/bundle.kept && openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 30 ' +
  '-subj "/CN=GPUaaS service CA" -keyout /root/foreign.key -out /root/foreign.crt 2>/dev/null && cat /root/foreign.crt > /etc/gpuaas/ca-bundle.crt';

/** Changes one line of the agent's environment and restarts it. */
const setEnv = (key: string, value: string) =>
  `cp -a /etc/gpuaas/env /root/env.kept && sed -i 's|^${key}=.*|${key}=${value}|' /etc/gpuaas/env && systemctl restart ${unit}`;
const envBack = `cat /root/env.kept > /etc/gpuaas/env && rm /root/env.kept && systemctl restart ${unit}`;

/** Whether anybody on the node gets through, as seen by a program that is not the agent. */
const connect = (name: string, port: number, pattern: RegExp) =>
  nodeSays(
    name,
    `timeout 2 bash -c 'exec 3<>/dev/tcp/${name}/${port}'; echo "ended with $?"`,
    pattern,
  );
const handshake = (name: string, pattern: RegExp) => {
  const ask =
    'openssl s_client -connect node-api.gpuaas.test:443 -CAfile /etc/gpuaas/ca-bundle.crt -verify_hostname node-api.gpuaas.test';
  return nodeSays(`openssl: ${name}`, `${ask} < /dev/null`, pattern);
};

const egressRejected: Row = {
  name: 'egress to the API rejected',
  right: [places.unreachable('tcp_refused')],
  breakIt: (world) => world.must('node-1', reject(443)),
  putBack: (world) => world.must('node-1', reject(443).replace('-I', '-D')),
  witnesses: [
    diagnostic(
      'refused in phase tcp',
      (current) => current.phase === 'tcp' && current.code === 'ECONNREFUSED',
    ),
    journal(/ECONNREFUSED/),
    connect('node-api.gpuaas.test', 443, /Connection refused/),
    stale,
  ],
};
const egressDropped: Row = {
  name: 'egress to the API dropped',
  right: [places.unreachable('tcp_timeout')],
  breakIt: (world) => world.must('node-1', 'iptables -I OUTPUT -p tcp --dport 443 -j DROP'),
  putBack: (world) => world.must('node-1', 'iptables -D OUTPUT -p tcp --dport 443 -j DROP'),
  witnesses: [
    diagnostic('timed out', (current) => current.phase === 'tcp' && /TIMEDOUT/.test(current.code)),
    journal(/TIMEDOUT/),
    connect('node-api.gpuaas.test', 443, /ended with 124/),
    stale,
  ],
};
const nameGone: Row = {
  name: 'API name unresolvable',
  right: [places.unreachable('dns_nxdomain')],
  breakIt: async (world) => {
    await world.must(
      'dns',
      "cp -a /var/lib/bind/node-1.zone /var/lib/bind/node-1.kept && sed -i '/^node-api/d' /var/lib/bind/node-1.zone && rndc reload",
    );
    await restart(world);
  },
  putBack: (world) =>
    world.must(
      'dns',
      'cat /var/lib/bind/node-1.kept > /var/lib/bind/node-1.zone && rm /var/lib/bind/node-1.kept && rndc reload',
    ),
  witnesses: [
    diagnostic('phase dns', (current) => current.phase === 'dns' && /ENOTFOUND/.test(current.code)),
    journal(/ENOTFOUND/),
    nodeSays(
      'getent finds nothing',
      'getent hosts node-api.gpuaas.test || echo nothing',
      /nothing/,
    ),
  ],
};
const nameElsewhere: Row = {
  name: 'API name resolves to another host',
  right: [places.tlsFailed('tls_name_mismatch')],
  breakIt: async (world) => {
    // The edge answers TLS on 443 too, with a certificate for other names.
    await world.must(
      'node-1',
      'cp -a /etc/hosts /root/hosts.kept && getent hosts console.gpuaas.test | awk \'{print $1, "node-api.gpuaas.test"}\' >> /etc/hosts',
    );
    await restart(world);
  },
  putBack: async (world) => {
    await world.must('node-1', 'cat /root/hosts.kept > /etc/hosts && rm /root/hosts.kept');
    await restart(world);
  },
  witnesses: [
    diagnostic(
      'name mismatch',
      (current) => current.phase === 'tls' && /ALTNAME/.test(current.code),
    ),
    journal(/ERR_TLS_CERT_ALTNAME_INVALID/),
    handshake('hostname mismatch', /Verify return code: 62 /),
    stale,
  ],
};
const bundleStale: Row = {
  name: 'CA bundle stale',
  right: [places.tlsFailed('server_tls_untrusted')],
  breakIt: async (world) => {
    await world.must('node-1', foreignBundle);
    await restart(world);
  },
  putBack: async (world) => {
    await world.must(
      'node-1',
      'cat /root/bundle.kept > /etc/gpuaas/ca-bundle.crt && rm /root/bundle.kept /root/foreign.*',
    );
    await restart(world);
  },
  witnesses: [
    diagnostic('server_tls_untrusted', (current) => current.reason === 'server_tls_untrusted'),
    journal(/server_tls_untrusted/),
    handshake('signed by another key', /Verify return code: 7 /),
    stale,
  ],
};
const publicEdge: Row = {
  name: 'agent pointed at the public edge',
  right: [places.authFailed('endpoint_profile_drift')],
  breakIt: (world) => world.must('node-1', setEnv('GPUAAS_API_URL', 'https://api.gpuaas.test')),
  putBack: (world) => world.must('node-1', envBack),
  witnesses: [
    diagnostic('endpoint_profile_drift', (current) => current.reason === 'endpoint_profile_drift'),
    journal(/endpoint_profile_drift/),
    log('edge', /internal\/v1\/nodes\/node-1\/tasks\/wait/),
  ],
};
const diskFull: Row = {
  name: 'root file system full',
  right: [places.diskFull('no_space')],
  breakIt: fillRoot,
  putBack: freeRoot,
  witnesses: [
    cannotWrite,
    readModel('root used', (model) => model.heartbeat.root_used_percent >= 99),
    journal(/ENOSPC|no space/i),
  ],
};
const diskFullReboot: Row = {
  name: 'root file system full, across a reboot',
  right: [places.diskFull('no_space')],
  within: 40,
  breakIt: async (world) => {
    await fillRoot(world);
    const size = async () => Number(await world.must('node-1', 'stat -c %s /var/filler'));
    const filled = await size();
    await world.docker('restart', world.container('node-1'));
    await world.until('node back', 20, async () => (await world.ssh('node-1', 'true')).code === 0);
    expect(await size(), 'what filled the disk before the reboot').toBeGreaterThanOrEqual(filled);
    // Whatever fills a disk does not stop at a reboot, while journald drops old files to have room.
    await fillRoot(world);
  },
  putBack: freeRoot,
  witnesses: diskFull.witnesses.slice(0, 2),
};
const aheadMs = 8 * 86_400_000;
const isAhead = (at: string | undefined): boolean =>
  Math.abs(Date.parse(at ?? '') - Date.now() - aheadMs) < 300_000;
const clockAhead: Row = {
  name: 'clock 8 days ahead for the agent',
  right: [places.tlsFailed('clock_ahead')],
  breakIt: (world) => setAgentClock(world, '+8d'),
  putBack: agentClockBack,
  witnesses: [
    diagnostic(
      "the server's certificate is over, eight days from now",
      ({ code, at }) => code === 'CERT_HAS_EXPIRED' && isAhead(at),
    ),
    by(
      'systemd',
      'journald: the agent dates its lines eight days later than journald',
      async (world, since) => {
        const lines = (await world.journal('node-1', since))
          .split('\n')
          .filter((line) => line.startsWith('{'));
        return lines.some((line) => isAhead(JSON.parse(line).at));
      },
    ),
    // The listener for nodes without certificate is hung up on before a request is made.
    log(
      'ingress',
      /peer closed connection in SSL handshake while SSL handshaking, client: [0-9.]+, server: 0\.0\.0\.0:8451/,
    ),
  ],
};
const opsAccess: Row = {
  name: 'guest agent stopped with sshd refusing',
  right: [places.opsAccess('guest_agent_and_ssh_down')],
  breakIt: (world) =>
    world.must(
      'node-1',
      'systemctl stop ssh.socket 2>/dev/null; systemctl stop ssh.service && systemctl stop qemu-guest-agent.service',
    ),
  putBack: (world) =>
    world.must('node-1', 'systemctl start ssh.service && systemctl start qemu-guest-agent.service'),
  witnesses: [
    by('probe', 'SSH refuses while the agent polls', async (world) => {
      const { agent_status, heartbeat } = await world.readModel('node-1');
      return (
        (await world.ssh('node-1', 'true')).code === 255 &&
        agent_status === 'healthy' &&
        !heartbeat.stale
      );
    }),
    by(
      'provider',
      'provider: guest agent down',
      async (world) =>
        (
          await world.call(
            'GET',
            `${world.profile.endpoints.provider}/v1/nodes/node-1/guest-agent`,
            world.operatorToken,
          )
        ).json?.guest_agent === 'down',
    ),
  ],
};
const terminalPort: Row = {
  name: 'terminal URL to a wrong port',
  right: [places.listenerTimeout('profile_drift')],
  breakIt: (world) =>
    world.must('node-1', setEnv('GPUAAS_TERMINAL_API_URL', 'https://term.gpuaas.test:18444')),
  putBack: (world) => world.must('node-1', envBack),
  witnesses: [
    terminal(/^node_stream_timeout/),
    journal(/"reason":"terminal_stream_failed","phase":"tcp","code":"ECONNREFUSED"[^\n]*:18444/),
    readModel('the heartbeat says where it points', (model) =>
      /18444/.test(model.heartbeat.terminal_url ?? ''),
    ),
  ],
};
const terminalDropped: Row = {
  name: 'terminal egress dropped',
  right: [places.listenerTimeout('tcp_timeout')],
  breakIt: (world) => world.must('node-1', 'iptables -I OUTPUT -p tcp --dport 18443 -j DROP'),
  putBack: (world) => world.must('node-1', 'iptables -D OUTPUT -p tcp --dport 18443 -j DROP'),
  witnesses: [
    terminal(/^node_stream_timeout/),
    journal(/"reason":"terminal_stream_failed","phase":"tcp","code":"ETIMEDOUT"/),
    connect('term.gpuaas.test', 18443, /ended with 124/),
  ],
};

export const nodeRows = [
  egressRejected,
  egressDropped,
  nameGone,
  nameElsewhere,
  bundleStale,
  publicEdge,
  diskFull,
  diskFullReboot,
  clockAhead,
  opsAccess,
  terminalPort,
  terminalDropped,
];
