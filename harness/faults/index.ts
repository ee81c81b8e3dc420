/**
 * The list of faults. A file in this folder that is missing here fails a test; so does a name that
 * is there twice.
 */
import type { FaultPlan } from '../records/fault.ts';
import type { Profile } from '../records/profile.ts';
import type { FaultDefinition, TargetKind } from './_kit.ts';
import { containerStop } from './container-stop.ts';
import { diskFill } from './disk-fill.ts';
import { dnsBreak } from './dns-break.ts';
import { edgeRouteRemove } from './edge-route-remove.ts';
import { egressBlock } from './egress-block.ts';
import { httpRefuse } from './http-refuse.ts';
import { linkCut } from './link-cut.ts';
import { linkLatency } from './link-latency.ts';
import { processKill } from './process-kill.ts';
import { ptyDelay } from './pty-delay.ts';
import { serviceStop } from './service-stop.ts';
import { sshRefuse } from './ssh-refuse.ts';
import { tlsClientCert } from './tls-client-cert.ts';
import { tlsStaleCa } from './tls-stale-ca.ts';
import { tlsTrustCa } from './tls-trust-ca.ts';
import { userRemove } from './user-remove.ts';
import { userShell } from './user-shell.ts';
import { websocketUpgradeStrip } from './websocket-upgrade-strip.ts';

export type { FaultDefinition, TargetKind } from './_kit.ts';

export const faults: readonly FaultDefinition[] = [
  ...[egressBlock, dnsBreak, sshRefuse],
  ...[tlsStaleCa, tlsClientCert, tlsTrustCa],
  ...[serviceStop, processKill, diskFill, ptyDelay, userRemove, userShell],
  ...[linkCut, linkLatency, containerStop],
  ...[edgeRouteRemove, httpRefuse, websocketUpgradeStrip],
];

const marksOn = (kind: TargetKind): string[] =>
  faults.flatMap((fault) => (fault.targetKind === kind ? (fault.marks ?? []) : []));

/** Where a sweep looks for files of runs whose ledger nobody has. */
export const markPlaces = { node: marksOn('node'), part: marksOn('part') };

export const faultNamed = (name: string): FaultDefinition | undefined =>
  faults.find((fault) => fault.name === name);

/** `node` and `node.<link>` stand for the node that the scenario is about. */
export function targetOf(fault: FaultDefinition, params: unknown, node: string | null): string {
  const named = String((fault.params.parse(params) as Record<string, unknown>)[fault.targetParam]);
  if (node === null) return named;
  return named === 'node'
    ? node
    : named.startsWith('node.')
      ? `${node}${named.slice('node'.length)}`
      : named;
}

export function planFault(
  name: string,
  params: unknown,
  profile: Profile,
  node: string | null = Object.keys(profile.nodes)[0] ?? null,
): FaultPlan {
  const fault = faultNamed(name);
  if (fault === undefined)
    throw new Error(`no fault is called ${name} (${faults.map((one) => one.name).join(', ')})`);
  return fault.plan(params, targetOf(fault, params, node), profile);
}
