// Where a stack lives: slot n owns four /24 networks of 198.18.0.0/15 and a run of 32 loopback
// ports. That block is kept for benchmarks of network devices, so no LAN, VPN or docker default
// lies in it.
import { networksPerSlot, portsPerSlot, type StackDeclaration } from './declaration.ts';

export const slotCount = 60;
const firstPort = 21_000;

/** By the names that the platform's compose file gives them. */
export interface Addresses {
  readonly slot: number;
  /** The first three numbers of each network. */
  readonly network: Readonly<Record<string, string>>;
  readonly port: Readonly<Record<string, number>>;
}

type Places = Pick<StackDeclaration, 'networks' | 'ports'>;

export function addressesOf(slot: number, { networks, ports }: Places): Addresses {
  const first = firstPort + portsPerSlot * slot;
  const numbered = <T>(names: object, place: (index: number) => T): Record<string, T> =>
    Object.fromEntries(Object.keys(names).map((name, index) => [name, place(index)]));
  return {
    slot,
    network: numbered(networks, (index) => `198.18.${networksPerSlot * slot + index}`),
    port: numbered(ports, (index) => first + index),
  };
}

const toNumber = (address: string): number =>
  address.split('.').reduce((sum, octet) => sum * 256 + Number(octet), 0);

/**
 * Whether two networks, written `a.b.c.d/bits`, share an address. What cannot be read (IPv6) shares
 * none of ours.
 */
export function overlaps(one: string, other: string): boolean {
  const [a, b] = [one, other].map((cidr) => /^(\d+\.\d+\.\d+\.\d+)\/(\d+)$/.exec(cidr));
  if (!a || !b) return false;
  const size = 2 ** (32 - Math.min(Number(a[2]), Number(b[2])));
  return Math.floor(toNumber(a[1]!) / size) === Math.floor(toNumber(b[1]!) / size);
}

/** Whether a slot is clear of networks that exist already, those of dead stacks included. */
export function slotIsClear({ network }: Addresses, takenSubnets: readonly string[]): boolean {
  return Object.values(network).every((prefix) =>
    takenSubnets.every((taken) => !overlaps(`${prefix}.0/24`, taken)),
  );
}
