// What several rows need.
import { nodeSays, readModel } from '../support/witnesses.ts';
import type { Json, World } from '../support/world.ts';

export const unit = 'gpuaas-node-agent.service';
export const restart = (world: World) => world.must('node-1', `systemctl restart ${unit}`);

export const stale = readModel(
  'stale, agent_down, temporary',
  (model) =>
    model.heartbeat.stale &&
    model.recovery.reason === 'agent_down' &&
    model.recovery.user_state === 'temporary',
);

/** A worker of the configuration before still serves the connections that it has. */
export const oldWorkersGone = (world: World, part: string) =>
  world.until(
    `${part}: old workers gone`,
    15,
    async () =>
      (await world.inside(part, 'ps ax | grep -c "[s]hutting down" || true')).out.trim() === '0',
  );
export async function reload(world: World, part: string, change: string): Promise<void> {
  await world.must(part, `${change} && nginx -t 2>/dev/null && nginx -s reload`);
  await oldWorkersGone(world, part);
}

/** Requests at the ingress, from its log. */
export async function requests(world: World, since: Date): Promise<Json[]> {
  const lines = (await world.log('ingress', since))
    .split('\n')
    .filter((line) => line.startsWith('{'));
  return lines.map((line) => JSON.parse(line)).filter(({ event }) => event === 'request');
}

const clockFile = `/run/systemd/system/${unit}.d/clock.conf`;
/** The agent alone lives at another time; the node and all else on it do not. */
export const setAgentClock = (world: World, offset: string) =>
  world.must(
    'node-1',
    `mkdir -p $(dirname ${clockFile}) && printf '[Service]\\nEnvironment=LD_PRELOAD=%s FAKETIME=%s FAKETIME_DONT_FAKE_MONOTONIC=1\\n' ` +
      `/usr/lib/*/faketime/libfaketimeMT.so.1 '${offset}' > ${clockFile} && systemctl daemon-reload && systemctl restart ${unit}`,
  );
export const agentClockBack = (world: World) =>
  world.must(
    'node-1',
    `rm -r $(dirname ${clockFile}) && systemctl daemon-reload && systemctl restart ${unit}`,
  );

/**
 * Down to the last byte, and what others give back later is filled as well. A journal that has just
 * begun a file has no need to delete old ones, and make room, for a while.
 */
export const fillRoot = (world: World) =>
  world.must(
    'node-1',
    'journalctl --rotate; dd if=/dev/zero bs=64k 2>/dev/null >> /var/filler; dd if=/dev/zero bs=1 count=65536 2>/dev/null >> /var/filler2; ' +
      `systemd-run --quiet --collect --unit=filler sh -c 'while sleep 0.1; do dd if=/dev/zero bs=4k 2>/dev/null >> /var/filler; done'`,
  );
export const freeRoot = (world: World) =>
  world.must('node-1', 'systemctl stop filler; rm -f /var/filler /var/filler2');
export const cannotWrite = nodeSays(
  'the agent cannot write',
  'runuser -u gpuaas -- dd if=/dev/zero of=/var/lib/gpuaas/probe bs=64k count=1 conv=fsync 2>&1; rm -f /var/lib/gpuaas/probe',
  /No space left/,
);
