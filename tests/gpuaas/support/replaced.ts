// Repairs that put something else in the place of what a fault changed: the platform's own where it
// has one, else by hand.
import { loadProfile } from '../../../harness/stack/state.ts';
import { repairs } from '../../../harness/systems/gpuaas/repairs.ts';
import type { FaultCase } from './fault-cases.ts';
import type { World } from './world.ts';

interface Replaced extends Pick<FaultCase, 'fault' | 'params'> {
  readonly title: string;
  readonly node: string;
  /**
   * Before the fault, by hand: what the repair makes has to differ from what was there, or nobody
   * could tell which of the two is left.
   */
  readonly before?: string;
  /** A procedure of the platform, by name; or a line of shell. */
  readonly repair: { readonly platform: string } | { readonly line: string };
  /** Prints the thing that must stay. */
  readonly thing: string;
  /** Takes a repair by hand away again. */
  readonly after?: string;
}

const bundle = '/etc/gpuaas/ca-bundle.crt';
const user = 'gpu-a1';
const entry = `getent passwd ${user}`;
const env = '/etc/gpuaas/env';
const setApi = (url: string): string =>
  `sed -i 's|^GPUAAS_API_URL=.*|GPUAAS_API_URL=${url}|' ${env}`;
const restart = 'systemctl restart gpuaas-node-agent.service';

export const replaced: readonly Replaced[] = [
  {
    title: 'the trust bundle that the platform issues',
    fault: 'tls.stale-ca',
    params: {},
    node: 'node-1',
    // As the first boot left it; the bundle's own files belong to the agent's group.
    before: `chgrp root ${bundle}`,
    repair: { platform: 'node.apply-bundle' },
    thing: `stat -c '%i %U:%G' ${bundle}; sha256sum ${bundle}`,
  },
  {
    title: 'the certificate of a new enrolment',
    fault: 'tls.client-cert',
    params: { kind: 'expired', token: 'remove' },
    node: 'node-1',
    // With the bundle's token the agent enrols by itself; a command that did so too would race with
    // it.
    repair: { platform: 'node.apply-bundle' },
    thing: 'sha256sum /etc/gpuaas/cert.pem /etc/gpuaas/key.pem /etc/gpuaas/env',
  },
  {
    title: 'the names that the node reconciles with its profile',
    fault: 'dns.break',
    params: { on: 'node-2', mode: 'missing-entry' },
    node: 'node-2',
    // As if written by hand; the platform marks its own.
    before: "sed -i 's/ # gpuaas-node-bootstrap$//' /etc/hosts",
    repair: { platform: 'node.reconcile-names' },
    thing: 'stat -c %i /etc/hosts; cat /etc/hosts',
  },
  {
    title: 'a user made anew, under another number',
    fault: 'user.remove',
    params: {},
    node: 'node-1',
    repair: { line: `useradd -m -u 4711 -s /bin/bash ${user}` },
    thing: entry,
    after: `userdel -f ${user}; useradd -u 1001 -M -s /bin/bash ${user}; chown -R ${user}: /home/${user}`,
  },
  {
    title: 'an address that says its port',
    fault: 'config.set',
    params: { file: env, key: 'GPUAAS_API_URL', value: 'https://api.gpuaas.test:1' },
    node: 'node-1',
    repair: { line: `${setApi('https://node-api.gpuaas.test:443')}; ${restart}` },
    thing: `grep ^GPUAAS_API_URL= ${env}`,
    after: `${setApi('https://node-api.gpuaas.test')}; ${restart}`,
  },
  {
    title: 'another shell that works',
    fault: 'user.shell',
    params: { shell: '/bin/false' },
    node: 'node-1',
    repair: { line: `usermod -s /bin/sh ${user}` },
    thing: entry,
    after: `usermod -s /bin/bash ${user}`,
  },
];

export const runRepair = async (world: World, { repair, node }: Replaced): Promise<void> => {
  if ('line' in repair) return void (await world.must(node, repair.line));
  const context = {
    profile: loadProfile(world.profile.stack),
    node,
    runId: 'repair',
    since: new Date().toISOString(),
  };
  await repairs[repair.platform]!.run({ ...context, signal: AbortSignal.timeout(60_000) });
};
