// Where a stack lives: slot n owns three /24 networks of 198.18.0.0/15 and a run of 32 loopback
// ports. That block is kept for benchmarks of network devices, so no LAN, VPN or docker default
// lies in it.

export const slotCount = 60;
const firstPort = 21_000;
const portsPerSlot = 32;

export interface Ports {
  readonly edge: number;
  readonly node1Ssh: number;
  readonly node2Ssh: number;
  readonly links: number;
  readonly provider: number;
  readonly db: number;
  readonly browser: number;
}

export interface Addresses {
  readonly slot: number;
  readonly core: string;
  readonly field: string;
  readonly front: string;
  readonly ports: Ports;
}

export function addressesOf(slot: number): Addresses {
  const port = firstPort + portsPerSlot * slot;
  return {
    slot,
    core: `198.18.${4 * slot}`,
    field: `198.18.${4 * slot + 1}`,
    front: `198.18.${4 * slot + 2}`,
    ports: {
      edge: port,
      node1Ssh: port + 1,
      node2Ssh: port + 2,
      links: port + 3,
      provider: port + 4,
      db: port + 5,
      browser: port + 6,
    },
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
export function slotIsClear(addresses: Addresses, takenSubnets: readonly string[]): boolean {
  return [addresses.core, addresses.field, addresses.front].every((prefix) =>
    takenSubnets.every((taken) => !overlaps(`${prefix}.0/24`, taken)),
  );
}

/** The environment that docker-compose.chaos.yml reads. */
export function composeEnvironment(
  stack: string,
  profile: string,
  { core, field, front, ports }: Addresses,
): Record<string, string> {
  return {
    HOPDRILL_STACK: stack,
    GPUAAS_PROFILE: profile,
    GPUAAS_CORE_PREFIX: core,
    GPUAAS_FIELD_PREFIX: field,
    GPUAAS_FRONT_PREFIX: front,
    GPUAAS_EDGE_PORT: String(ports.edge),
    HOPDRILL_NODE_1_SSH_PORT: String(ports.node1Ssh),
    HOPDRILL_NODE_2_SSH_PORT: String(ports.node2Ssh),
    HOPDRILL_LINKS_PORT: String(ports.links),
    HOPDRILL_PROVIDER_PORT: String(ports.provider),
    HOPDRILL_DB_PORT: String(ports.db),
    HOPDRILL_BROWSER_PORT: String(ports.browser),
  };
}
