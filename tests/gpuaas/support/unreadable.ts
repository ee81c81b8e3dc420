// How the prior state of each fault comes to be unreadable, and the words in which hopdrill then
// refuses to break anything.

import type { Profile } from '../../../harness/records/profile.ts';
import type { FaultCase } from './fault-cases.ts';
import { planned } from './faults.ts';

interface Unreadable {
  readonly refusal: RegExp;
  /** Parameters that ask for what is not there. */
  readonly params?: Record<string, unknown>;
  /** A profile that names what is not there. */
  readonly profile?: (profile: Profile) => Profile;
  /** Lines of shell on node-1, as root. */
  readonly byHand?: { readonly breakIt: string; readonly putBack: string };
}

const iptables = '/usr/sbin/iptables';
const noRules: Unreadable = {
  byHand: {
    breakIt: `mv ${iptables} ${iptables}.away`,
    putBack: `mv ${iptables}.away ${iptables}`,
  },
  refusal: /^digest of \S+ ended with 1: .*iptables: not found/,
};
const noContainer = (part: string): Unreadable => ({
  profile: (profile) => ({
    ...profile,
    parts: {
      ...profile.parts,
      [part]: { ...profile.parts[part]!, container: 'no-such-container' },
    },
  }),
  refusal: /No such container: no-such-container/,
});
const noLink: Unreadable = {
  params: { link: 'no.such-link' },
  refusal: /proxies\/no\.such-link: 404 .*proxy not found/,
};
const noUser = (refusal: RegExp): Unreadable => ({
  params: { user: 'nobody-of-that-name' },
  refusal,
});
const noUnit = (refusal: RegExp): Unreadable => ({ params: { unit: 'no-such.service' }, refusal });

const otherNode = ({ mode }: Record<string, unknown>): Unreadable =>
  mode === 'missing-entry'
    ? {
        params: { on: 'node-1' },
        refusal:
          /^snapshot name of dns\.break ended with 3: \S+ is not in \/etc\/hosts: use nxdomain/,
      }
    : {
        params: { on: 'node-2' },
        refusal:
          /^snapshot name of dns\.break ended with 3: the node finds \S+ in \/etc\/hosts: use missing-entry/,
      };

const onNode: Readonly<Record<string, (params: Record<string, unknown>) => Unreadable>> = {
  'dns.break': otherNode,
  'tls.stale-ca': () => ({
    params: { file: '/etc/gpuaas/no-such-bundle.crt' },
    refusal:
      /^snapshot saved of tls\.stale-ca ended with 1: .*cannot stat '\/etc\/gpuaas\/no-such-bundle\.crt'/,
  }),
  'tls.client-cert': () => ({
    params: { authority: 'no-such-part' },
    refusal: /the profile names no part no-such-part/,
  }),
  'service.stop': () =>
    noUnit(/^snapshot was of service\.stop ended with 1: No files found for no-such\.service/),
  'process.kill': () =>
    noUnit(/^snapshot restarts of process\.kill ended with 3: it does not run even now/),
  'process.pause': () =>
    noUnit(/^snapshot runs of process\.pause ended with 3: .*it does not run even now/),
  'config.set': () => ({
    params: { file: '/etc/gpuaas/no-such-file' },
    refusal:
      /^snapshot saved of config\.set ended with 1: .*cannot stat '\/etc\/gpuaas\/no-such-file'/,
  }),
  'node.reboot': () => ({
    profile: ({ nodes, ...profile }) => ({
      ...profile,
      nodes: {
        ...nodes,
        'node-1': {
          ...nodes['node-1']!,
          lifeline: { kind: 'docker', container: 'no-such-container' },
        },
      },
    }),
    refusal: /No such container: no-such-container/,
  }),
  'node.fence': () => ({
    profile: ({ endpoints: { api: _, ...endpoints }, ...profile }) => ({ ...profile, endpoints }),
    refusal: /^http: the profile names no endpoint api \(terminal, /,
  }),
  // Where the ballast would lie is not on the root that has to get full.
  'disk.fill': () => ({
    byHand: {
      breakIt: 'mkdir -p /var/lib/hopdrill && mount -t tmpfs tmpfs /var/lib/hopdrill',
      putBack: 'umount /var/lib/hopdrill && rmdir /var/lib/hopdrill',
    },
    refusal: /^snapshot rehearsal of disk\.fill ended with 3: not on the root/,
  }),
  'pty.delay': () => noUser(/^snapshot user of pty\.delay ended with 2/),
  'user.remove': () =>
    noUser(/^snapshot entry of user\.remove ended with 3: no user nobody-of-that-name/),
  'user.shell': () => noUser(/^snapshot shell of user\.shell ended with 2/),
};

export function unreadable(
  { fault, params }: Pick<FaultCase, 'fault' | 'params'>,
  profile: Profile,
): Unreadable {
  const { kind, target } = planned(fault, params, profile);
  if (kind === 'node-rule') return noRules;
  if (target.startsWith('link:')) return noLink;
  if (target.startsWith('part:')) return noContainer(target.slice('part:'.length));
  const found = onNode[fault];
  if (found === undefined)
    throw new Error(`no line says how the prior state of ${fault} comes to be unreadable`);
  return found(params);
}
