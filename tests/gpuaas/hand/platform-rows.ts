// What happens to the platform's own parts and to terminals.

import type { Row } from '../support/row.ts';
import {
  apiSays,
  by,
  diagnostic,
  journal,
  log,
  nodeSays,
  observed,
  page,
  terminal,
} from '../support/witnesses.ts';
import type { World } from '../support/world.ts';
import { reload } from './common.ts';
import * as places from './places.ts';

const stopPart = (part: string) => (world: World) =>
  world.docker('stop', '-t', '2', world.container(part));
const startPart = (part: string) => (world: World) => world.docker('start', world.container(part));
/** The link to a part finds nobody behind it. */
const noUpstream = (link: string) =>
  log('links', new RegExp(`"name":"${link}"[^\\n]*Unable to open connection to upstream`));

const redis: Row = {
  name: 'Redis stopped',
  right: [places.upgradeFailed('session_binding_unavailable')],
  breakIt: stopPart('redis'),
  putBack: startPart('redis'),
  witnesses: [
    terminal(/^session_binding_unavailable/),
    log('gateway', /session_binding_unavailable/),
    noUpstream('gateway.redis'),
  ],
};
const api: Row = {
  name: 'API stopped',
  right: [{ ...places.unreachable('api_down'), scope: 'fleet' }],
  breakIt: stopPart('api'),
  putBack: startPart('api'),
  witnesses: [
    apiSays(502, '', 'edge'),
    diagnostic(
      'the ingress has nobody to ask',
      ({ phase, code }) => phase === 'http' && /^http_50[24]$/.test(code),
    ),
    log('ingress', /"uri":"\/internal\/v1\/nodes\/node-1\/tasks\/wait[^"]*","status":50[24]/),
    noUpstream('edge.api'),
  ],
};
const postgres: Row = {
  name: 'Postgres stopped',
  right: [{ ...places.unreachable('api_down'), scope: 'fleet' }],
  breakIt: stopPart('db'),
  putBack: startPart('db'),
  witnesses: [
    apiSays(503, 'database_unavailable', 'api'),
    log('api', /database_unavailable/),
    noUpstream('api.db'),
  ],
};
const gateway: Row = {
  name: 'gateway stopped',
  right: [places.upgradeFailed('gateway_down')],
  breakIt: stopPart('gateway'),
  putBack: startPart('gateway'),
  witnesses: [
    terminal(/^refused 50[24]/, 'edge'),
    log('edge', /"uri":"\/ws\/terminal","status":50[24]/),
    page('terminal_gateway_unreachable'),
    noUpstream('edge.gateway'),
  ],
};

/**
 * Edits what the edge says to the gateway about WebSockets and reloads; the old workers have to be
 * gone before anybody asks.
 */
const headers = '/etc/nginx/snippets/websocket.conf';
const editHeaders = (script: string) => (world: World) =>
  reload(world, 'edge', `cp -a ${headers} /root/headers.kept && sed -i '${script}' ${headers}`);
const headersBack = (world: World) =>
  reload(world, 'edge', `cat /root/headers.kept > ${headers} && rm /root/headers.kept`);
const upgradeAnswered = (status: number) =>
  log(
    'edge',
    new RegExp(`"uri":"/ws/terminal","status":${status}[^\\n]*"upstream_status":"${status}"`),
  );

const routes = '/etc/nginx/conf.d/terminal.conf';
const routeGone: Row = {
  name: 'terminal route gone at the edge',
  right: [places.routeMissing('route_not_found')],
  breakIt: (world) =>
    reload(
      world,
      'edge',
      `cp -a ${routes} /root/routes.kept && sed -i '/location = .ws.terminal/,/^  }/d; /location = .healthz/,/^  }/d' ${routes}`,
    ),
  putBack: (world) =>
    reload(world, 'edge', `cat /root/routes.kept > ${routes} && rm /root/routes.kept`),
  witnesses: [
    by('edge', '404 of the edge itself', async (world) => {
      const { status, headers: said } = await world.terminalHost('GET', '/healthz');
      return status === 404 && said['x-gpuaas-product'] === 'edge';
    }),
    terminal(/^not_found$/, 'edge'),
    log('edge', /"uri":"\/ws\/terminal","status":404[^\n]*"upstream_addr":"","upstream_status":""/),
    by('gateway', 'the gateway is well behind a host that leads nowhere', async (world) => {
      const ask =
        'fetch("http://127.0.0.1:9080/healthz").then(async (got) => console.log(await got.text()))';
      const itself = await world.must('gateway', `node -e '${ask}'`);
      return (
        JSON.parse(itself).status === 'ok' &&
        (await world.terminalHost('GET', '/healthz')).json?.part !== 'gateway'
      );
    }),
  ],
};
const upgradeStripped: Row = {
  name: 'Upgrade header stripped',
  right: [places.upgradeFailed('upgrade_headers_stripped')],
  breakIt: editHeaders('/^proxy_set_header upgrade/d; s/connection .*/connection "";/'),
  putBack: headersBack,
  witnesses: [
    terminal(/^upgrade_required/),
    log('gateway', /upgrade_required/),
    upgradeAnswered(426),
  ],
};
const subprotocolStripped: Row = {
  name: 'subprotocol stripped',
  right: [places.upgradeFailed('subprotocol_lost')],
  breakIt: editHeaders('s/sec-websocket-protocol .*/sec-websocket-protocol "";/'),
  putBack: headersBack,
  witnesses: [
    terminal(/^subprotocol_missing/),
    log('gateway', /subprotocol_missing/),
    upgradeAnswered(400),
  ],
};

const gatewayTrust: Row = {
  name: "gateway's client CA changed",
  right: [places.streamRefused('client_cert_untrusted')],
  breakIt: async (world) => {
    await world.must(
      'gateway',
      'cp -a /etc/gpuaas-gateway/client-ca.crt /root/ca.kept && openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 30 -subj "/CN=Other CA" -keyout /dev/null -out /root/other.crt 2>/dev/null && cat /root/other.crt > /etc/gpuaas-gateway/client-ca.crt && pkill -HUP -f "[g]ateway/main.js"',
    );
  },
  putBack: async (world) => {
    await world.must(
      'gateway',
      'cat /root/ca.kept > /etc/gpuaas-gateway/client-ca.crt; rm -f /root/ca.kept /root/other.crt; pkill -HUP -f "[g]ateway/main.js"',
    );
  },
  witnesses: [
    observed('node_stream_refused', (events) =>
      events.some((event) => event.event === 'node_stream_refused'),
    ),
    by('gateway', 'TLS refusals with serial', async (world) =>
      (await world.tlsRefusals(new Date(Date.now() - 4000))).some((refusal) =>
        Boolean(refusal.serial),
      ),
    ),
    journal(
      /"reason":"terminal_stream_failed","phase":"http","code":"client_certificate_rejected"/,
    ),
  ],
};
const user = 'gpu-a1';
const userGone: Row = {
  name: 'allocation user gone',
  right: [places.ptyFailed('user_missing')],
  breakIt: (world) => world.must('node-1', `userdel -f ${user}`),
  putBack: (world) =>
    world.api('POST', '/v1/allocations/alloc-1/provision', world.operatorToken, {}),
  witnesses: [
    terminal(/^pty_failed:user_missing/),
    journal(/user_missing/),
    nodeSays('nobody can become this user', `su ${user} -c true`, /user gpu-a1 does not exist/),
  ],
};
const shellFalse: Row = {
  name: 'shell /bin/false',
  right: [places.ptyFailed('shell_failed')],
  breakIt: (world) => world.must('node-1', `usermod -s /bin/false ${user}`),
  putBack: (world) => world.must('node-1', `usermod -s /bin/bash ${user}`),
  witnesses: [terminal(/^pty_failed:shell_failed/), journal(/shell_failed/)],
};
const shellHangs: Row = {
  name: 'shell that prints nothing and hangs',
  right: [places.ptyFailed('pty_ready_timeout')],
  breakIt: (world) =>
    world.must(
      'node-1',
      `printf '#!/bin/sh\\nexec sleep 600\\n' > /usr/local/bin/quiet-shell && chmod 755 /usr/local/bin/quiet-shell && usermod -s /usr/local/bin/quiet-shell ${user}`,
    ),
  putBack: (world) =>
    world.must(
      'node-1',
      `usermod -s /bin/bash ${user}; rm -f /usr/local/bin/quiet-shell; pkill -f '[s]leep 600' || true`,
    ),
  witnesses: [
    terminal(/^pty_ready_timeout/),
    journal(/"reason":"pty_failed","phase":"app","code":"pty_ready_timeout"/),
  ],
};
export const platformRows = [
  redis,
  api,
  postgres,
  gateway,
  routeGone,
  upgradeStripped,
  subprotocolStripped,
  gatewayTrust,
  userGone,
  shellFalse,
  shellHangs,
];
