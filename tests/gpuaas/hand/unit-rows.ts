// What happens to the agent as a service of its node.

import type { Row } from '../support/row.ts';
import { by, journal, nodeSays, readModel, systemd } from '../support/witnesses.ts';
import type { Json, World } from '../support/world.ts';
import { stale, unit } from './common.ts';
import * as places from './places.ts';

const unitStopped: Row = {
  name: 'unit stopped',
  right: [places.stale('process_down')],
  breakIt: (world) => world.must('node-1', `systemctl stop ${unit}`),
  putBack: (world) => world.must('node-1', `systemctl start ${unit}`),
  witnesses: [stale, systemd(/^Stopped gpuaas-node-agent/m), journal(/"event":"agent_stopped"/)],
};
const unitMasked: Row = {
  name: 'unit masked',
  right: [places.stale('process_down')],
  breakIt: (world) => world.must('node-1', `systemctl mask --runtime --now ${unit}`),
  putBack: (world) =>
    world.must('node-1', `systemctl unmask --runtime ${unit} && systemctl start ${unit}`),
  // While all is well the start of a unit that runs changes nothing.
  witnesses: [
    stale,
    nodeSays(
      'systemd refuses to start it',
      `systemctl start ${unit}`,
      /Unit gpuaas-node-agent\.service is masked/,
    ),
  ],
};

/** The agent began once more and had not said before that it ends. */
const beganUnannounced = by(
  'agent',
  'agent: began again without having stopped',
  async (world, since) => {
    const record = await world.diagnostic('node-1');
    // The record remembers days when the clock was ahead.
    const isNow = (at: number) => at > since.getTime() && at < Date.now() + 2000;
    const isBeginning = ({ reason, at }: Json) =>
      reason === 'process_alive' && isNow(Date.parse(at));
    return (
      record.history.some(isBeginning) &&
      !/"event":"agent_stopped"/.test(await world.journal('node-1', since))
    );
  },
);
const killer = 'agent-killer.service';
const processKilled: Row = {
  name: 'process killed again and again',
  right: [places.processDown('restart_loop')],
  breakIt: (world) =>
    world.must(
      'node-1',
      `systemd-run --quiet --unit=${killer} sh -c 'while systemctl kill -s KILL --kill-who=main ${unit}; do sleep 3; done'`,
    ),
  // systemd starts the agent again by itself, as soon as nobody kills it.
  putBack: (world) => world.must('node-1', `systemctl stop ${killer}`),
  witnesses: [systemd(/code=killed, status=9\/KILL/), beganUnannounced],
};

const install = (release: string) => (world: World) =>
  world.must(
    'node-1',
    `ln -sfn /opt/gpuaas/releases/${release} /etc/gpuaas/release && systemctl restart ${unit}`,
  );
const olderAgent: Row = {
  name: 'older agent that reports terminal.open too early',
  right: [places.listenerTimeout('tcp_timeout')],
  breakIt: async (world) => {
    await install('agent-2026-05-20')(world);
    await world.must('node-1', 'iptables -I OUTPUT -p tcp --dport 18443 -j DROP');
  },
  putBack: async (world) => {
    await world.must('node-1', 'iptables -D OUTPUT -p tcp --dport 18443 -j DROP');
    await install('agent-current')(world);
  },
  witnesses: [
    readModel('agent version', (model) => /2026\.05\.20/.test(model.heartbeat.agent_version ?? '')),
    by('gateway', 'terminal.open completed without a stream', async (world) => {
      const attempt = await world.tryTerminal('node-1');
      if (attempt.code === 'ready' || attempt.sessionId === null) return false;
      const session = (await world.api('GET', `/v1/terminal/sessions/${attempt.sessionId}`)).json;
      const events = await world.observations(attempt.sessionId);
      return (
        session?.open_task?.status === 'completed' &&
        !events.some((event) => event.event === 'node_stream_connected')
      );
    }),
  ],
};
const wrongCpu: Row = {
  name: 'agent for the wrong CPU',
  right: [places.binaryInvalid('exec_format')],
  breakIt: (world) => install('agent-wrong-arch')(world).catch(() => undefined),
  putBack: install('agent-current'),
  witnesses: [
    systemd(/status=203\/EXEC/),
    readModel('agent_down', (model) => model.recovery.reason === 'agent_down'),
  ],
};

export const unitRows = [unitStopped, unitMasked, processKilled, olderAgent, wrongCpu];
