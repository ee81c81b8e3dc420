import type { FaultDefinition } from '../../../faults/define.ts';
import { dnsBreak } from './dns-break.ts';
import { edgeRouteRemove } from './edge-route-remove.ts';
import { egressBlock } from './egress-block.ts';
import { httpRefuse } from './http-refuse.ts';
import { nodeFence } from './node-fence.ts';
import { ptyDelay } from './pty-delay.ts';
import { tlsClientCert } from './tls-client-cert.ts';
import { tlsStaleCa } from './tls-stale-ca.ts';
import { tlsTrustCa } from './tls-trust-ca.ts';
import { userRemove } from './user-remove.ts';
import { userShell } from './user-shell.ts';
import { websocketUpgradeStrip } from './websocket-upgrade-strip.ts';

export const faults: readonly FaultDefinition[] = [
  dnsBreak,
  edgeRouteRemove,
  egressBlock,
  httpRefuse,
  nodeFence,
  ptyDelay,
  tlsClientCert,
  tlsStaleCa,
  tlsTrustCa,
  userRemove,
  userShell,
  websocketUpgradeStrip,
];
