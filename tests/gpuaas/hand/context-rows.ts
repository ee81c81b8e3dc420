// Ways in which the agent lives in another world than who looks at it from outside: time, user,
// namespaces, environment, limits, identity.

import type { Row, Witness } from '../support/row.ts';
import { by, diagnostic, journal, nodeSays, readModel, systemd } from '../support/witnesses.ts';
import type { World } from '../support/world.ts';
import { agentClockBack, setAgentClock, stale, unit } from './common.ts';
import * as places from './places.ts';

const folder = `/run/systemd/system/${unit}.d`;
/** Lines that a service gets on top of its unit, as a package or an operator adds them. */
const addToUnit = (world: World, ...lines: string[]) =>
  world.must(
    'node-1',
    `mkdir -p ${folder} && printf '[Service]\\n${lines.join('\\n')}\\n' > ${folder}/hand.conf && systemctl daemon-reload && systemctl restart ${unit}`,
  );
const unitBack = (world: World, alsoGone = '') =>
  world.must(
    'node-1',
    `rm -rf ${folder} ${alsoGone}; systemctl daemon-reload && systemctl restart ${unit}`,
  );
const mainPid = `$(systemctl show -p MainPID --value ${unit})`;
const ofProcess = (name: string, file: string, pattern: RegExp): Witness =>
  nodeSays(name, `tr '\\0' '\\n' < /proc/${mainPid}/${file}`, pattern);
const elsewhere = (kind: 'mnt' | 'net'): Witness =>
  nodeSays(
    `the agent has a ${kind} namespace of its own`,
    `[ "$(readlink /proc/1/ns/${kind})" = "$(readlink /proc/${mainPid}/ns/${kind})" ] || echo another world`,
    /another world/,
  );

const hour = 3_600_000;
const isOffBy = (ms: number, at: string | undefined): boolean =>
  Math.abs(Date.parse(at ?? '') - Date.now() - ms) < 300_000;
/** The agent's lines have another date than the journal that holds them. */
const datesItsLines = (ms: number): Witness =>
  by('systemd', 'journald: the agent dates its lines otherwise', async (world, since) => {
    const lines = (await world.journal('node-1', since))
      .split('\n')
      .filter((line) => line.startsWith('{'));
    return lines.some((line) => isOffBy(ms, JSON.parse(line).at));
  });
const clock = (
  name: string,
  offset: string,
  ms: number,
  code: RegExp,
  right: Row['right'],
): Row => ({
  name,
  right,
  breakIt: (world) => setAgentClock(world, offset),
  putBack: agentClockBack,
  witnesses: [
    datesItsLines(ms),
    diagnostic('certificates look wrong at that time', (current) => code.test(current.code)),
  ],
});
const clockBehind = clock(
  'clock 8 days behind for the agent',
  '-8d',
  -192 * hour,
  /NOT_YET_VALID/i,
  [places.tlsFailed('clock_behind')],
);
const clockHoursAhead = clock(
  'clock 2 hours ahead for the agent',
  '+2h',
  2 * hour,
  /cert_expired|CERT_HAS_EXPIRED|fresh/,
  [places.authFailed('clock_ahead')],
);

const ownUser = '-p tcp --dport 443 -m owner --uid-owner gpuaas -j REJECT --reject-with tcp-reset';
const userCut: Row = {
  name: "egress rejected for the agent's user alone",
  right: [places.unreachable('tcp_refused')],
  breakIt: (world) => world.must('node-1', `iptables -I OUTPUT ${ownUser}`),
  putBack: (world) => world.must('node-1', `iptables -D OUTPUT ${ownUser}`),
  witnesses: [
    diagnostic('refused', ({ phase, code }) => phase === 'tcp' && code === 'ECONNREFUSED'),
    nodeSays('the rule hits', 'iptables -nvxL OUTPUT | grep "owner UID"', /^\s*[1-9]/m),
    stale,
  ],
};

const foreign =
  'openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 30 -subj "/CN=GPUaaS service CA" -keyout /dev/null -out /root/own.crt 2>/dev/null && chmod 644 /root/own.crt';
const ownBundle: Row = {
  name: "another trust bundle in the agent's mount namespace",
  right: [places.tlsFailed('server_tls_untrusted')],
  breakIt: async (world) => {
    await world.must('node-1', foreign);
    await addToUnit(world, 'BindReadOnlyPaths=/root/own.crt:/etc/gpuaas/ca-bundle.crt');
  },
  putBack: (world) => unitBack(world, '/root/own.crt'),
  witnesses: [
    diagnostic('untrusted', ({ code }) => /UNABLE_TO_VERIFY|CERT_SIGNATURE/.test(code)),
    elsewhere('mnt'),
    stale,
  ],
};
const ownHosts: Row = {
  name: "another hosts file in the agent's mount namespace",
  right: [places.tlsFailed('tls_name_mismatch')],
  breakIt: async (world) => {
    await world.must(
      'node-1',
      'cp /etc/hosts /root/own.hosts && getent hosts console.gpuaas.test | awk \'{print $1, "node-api.gpuaas.test"}\' >> /root/own.hosts && chmod 644 /root/own.hosts',
    );
    await addToUnit(world, 'BindReadOnlyPaths=/root/own.hosts:/etc/hosts');
  },
  putBack: (world) => unitBack(world, '/root/own.hosts'),
  witnesses: [
    diagnostic('another name', ({ code }) => /ALTNAME/.test(code)),
    elsewhere('mnt'),
    stale,
  ],
};
const ownNetwork: Row = {
  name: 'the agent in a network namespace with nothing in it',
  right: [places.unreachable()],
  breakIt: (world) => addToUnit(world, 'PrivateNetwork=yes'),
  putBack: (world) => unitBack(world),
  witnesses: [
    diagnostic('no way out', ({ phase }) => phase === 'dns' || phase === 'tcp'),
    elsewhere('net'),
    stale,
  ],
};
const noInternet: Row = {
  name: 'the agent may open no internet sockets',
  right: [places.unreachable()],
  breakIt: (world) => addToUnit(world, 'RestrictAddressFamilies=AF_UNIX'),
  putBack: (world) => unitBack(world),
  witnesses: [
    diagnostic('no socket', ({ phase }) => phase === 'dns' || phase === 'tcp'),
    ofProcess('a filter of system calls', 'status', /Seccomp:\s*2/),
    stale,
  ],
};
const descriptors: Row = {
  name: 'too few descriptors for the agent to start with',
  right: [places.processDown('restart_loop')],
  breakIt: (world) => addToUnit(world, 'LimitNOFILE=20'),
  putBack: (world) => unitBack(world),
  witnesses: [
    systemd(/status=1\/FAILURE/),
    journal(/too many open files|EMFILE/),
    readModel('agent_down', (model) => model.recovery.reason === 'agent_down'),
  ],
};

/** A file of variables that comes after the usual one, and wins. */
const lastWord = (world: World, ...lines: string[]) =>
  world
    .must('node-1', `printf '${lines.join('\\n')}\\n' > /etc/gpuaas/hand.env`)
    .then(() => addToUnit(world, 'EnvironmentFile=/etc/gpuaas/hand.env'));
const lastWordBack = (world: World) => unitBack(world, '/etc/gpuaas/hand.env');
const otherNode: Row = {
  name: 'the agent believes to be another node',
  right: [places.authFailed('identity_mismatch')],
  breakIt: (world) => lastWord(world, 'GPUAAS_NODE_ID=node-2'),
  putBack: lastWordBack,
  witnesses: [
    journal(/cert_wrong_node/),
    ofProcess('its environment says node-2', 'environ', /^GPUAAS_NODE_ID=node-2$/m),
    stale,
  ],
};
const oldEnvironment: Row = {
  name: 'environment file corrected, the process has the old one',
  right: [places.unreachable('tcp_refused')],
  breakIt: (world) =>
    world.must(
      'node-1',
      `cp -a /etc/gpuaas/env /root/env.kept && sed -i 's|^GPUAAS_API_URL=.*|GPUAAS_API_URL=https://node-api.gpuaas.test:444|' /etc/gpuaas/env && systemctl restart ${unit} && sleep 1 && cat /root/env.kept > /etc/gpuaas/env && rm /root/env.kept`,
    ),
  putBack: (world) => unitBack(world),
  witnesses: [
    diagnostic('refused', ({ phase, code }) => phase === 'tcp' && code === 'ECONNREFUSED'),
    ofProcess('its environment has the old port', 'environ', /^GPUAAS_API_URL=.*:444$/m),
    stale,
  ],
};
const ciphers: Row = {
  name: 'the agent offers a cipher that nobody takes',
  right: [places.tlsFailed()],
  breakIt: (world) =>
    addToUnit(world, 'Environment=NODE_OPTIONS=--tls-cipher-list=TLS_AES_128_CCM_8_SHA256'),
  putBack: (world) => unitBack(world),
  witnesses: [
    diagnostic('no handshake', ({ phase }) => phase === 'tls'),
    ofProcess('its environment has the option', 'environ', /^NODE_OPTIONS=--tls-cipher/m),
    stale,
  ],
};
const unusedProxy: Row = {
  name: 'a proxy in the environment that the agent does not use',
  right: ['healthy'],
  breakIt: (world) => addToUnit(world, 'Environment=HTTPS_PROXY=http://127.0.0.1:9'),
  putBack: (world) => unitBack(world),
  witnesses: [
    ofProcess('its environment has the proxy', 'environ', /^HTTPS_PROXY=/m),
    by('systemd', 'systemd: so does its unit', async (world) =>
      /HTTPS_PROXY/.test(await world.must('node-1', `systemctl show -p Environment ${unit}`)),
    ),
  ],
};

export const contextRows = [
  clockBehind,
  clockHoursAhead,
  userCut,
  ownBundle,
  ownHosts,
  ownNetwork,
  noInternet,
  descriptors,
  otherNode,
  oldEnvironment,
  ciphers,
  unusedProxy,
];
