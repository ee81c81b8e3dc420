// A bad day on the stack of the suite: tools that refuse, files that are wrong, and everything
// whole again after each row.
import { afterEach, beforeEach, expect } from 'vitest';
import {
  byHand,
  container,
  docker,
  hopdrill,
  leftOnTargets,
  profileOfSuite,
  say,
  seconds,
  stackOfSuite,
} from './proof.ts';

export const stack = stackOfSuite();
export const usual = 'scenarios/gpuaas/node-agent/api-egress-rejected.yaml';
export const leaseMs = 1000 * (profileOfSuite().policies['undo.lease_seconds'] ?? 10);
const iptables = '/usr/sbin/iptables';

/**
 * A tool on the node that refuses, or hangs at, what its arguments hold; all else it does as ever.
 */
export function tamper(word: string, instead: string): void {
  byHand(
    'node-1',
    `real=$(readlink -f /etc/alternatives/iptables); link=$(readlink /etc/alternatives/iptables); [ -x "$real" ] && mv ${iptables} ${iptables}.away
printf '#!/bin/sh\\ncase " $* " in *" ${word} "*) ${instead} ;; esac\\nexec %s "$@"\\n' "$link" > ${iptables}; chmod 755 ${iptables}`,
  );
}
export const mend = (): void =>
  void byHand(
    'node-1',
    `[ ! -e ${iptables}.away ] && [ ! -L ${iptables}.away ] || mv -f ${iptables}.away ${iptables}`,
  );
export const rules = async (): Promise<string[]> =>
  (await leftOnTargets()).filter((left) => left.includes('hopdrill:'));

/** The usual first fields; a row changes what it is about. */
export function text(fields: {
  scenario?: string;
  target?: string;
  faults: string;
  expect?: string;
  more?: string;
}): string {
  return `scenario: ${fields.scenario ?? 'proof/bad-day'}
title: a bad day
why: it happens
severity: P1
system: gpuaas
target: { node: ${fields.target ?? 'node-1'} }
faults:
${fields.faults}
expect:
${fields.expect ?? '  hop: node_runtime_api_reachability\n  signal: node_agent_api_unreachable'}
repair: revert
recover:
  within: 25s
  proof: [preflight-green]
${fields.more ?? ''}`;
}
export const egress = '  - egress.block: { on: node, to: node-api, mode: reject }';

/**
 * Whatever a row did, the next one begins on a whole platform; what nobody owns any more is taken
 * back here.
 */
export function wholeAfterEach(): void {
  let started = 0;
  beforeEach(() => {
    started = performance.now();
  });
  afterEach(async ({ task }) => {
    say(`${task.name}: ${seconds(performance.now() - started)}`);
    mend();
    for (const part of ['edge', 'provider']) {
      if (docker('inspect', '-f', '{{.State.Paused}}', container(part)) === 'true')
        docker('unpause', container(part));
    }
    const { exitCode, stdout } = await hopdrill(['undo', '--stack', stack]);
    expect(exitCode, stdout).toBe(0);
    expect(await leftOnTargets()).toEqual([]);
  });
}
