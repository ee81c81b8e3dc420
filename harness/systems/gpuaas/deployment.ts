// What a profile says of this platform, in its own words.
import type { Profile } from '../../records/profile.ts';

/** Facts of one node. */
export interface NodeFacts {
  /** The user that the agent runs as. */
  readonly agentUser: string;
  readonly agentUnit: string;
  /** An active allocation on this node, used for terminal probes. */
  readonly allocation: string;
  readonly allocationUser: string;
}

/** `own` was checked when the profile was read (`deployment-schema.ts`). */
export function factsOf({ agent, own }: Profile['nodes'][string]): NodeFacts {
  const { allocation, allocationUser } = own as Pick<NodeFacts, 'allocation' | 'allocationUser'>;
  const { unit, user } = agent ?? { unit: 'gpuaas-node-agent.service', user: 'gpuaas' };
  return { agentUser: user, agentUnit: unit, allocation, allocationUser };
}

export function nodeNamed(profile: Profile, name: string): NodeFacts {
  const node = profile.nodes[name];
  if (node === undefined)
    throw new Error(`no node is called ${name} (${Object.keys(profile.nodes).join(', ')})`);
  return factsOf(node);
}

type Endpoint = 'api' | 'terminal' | 'console' | 'provider' | 'browser';

/** Without a slash at its end. */
export function endpointOf({ endpoints }: Profile, name: Endpoint): string {
  const address = endpoints[name];
  if (address === undefined) throw new Error(`the profile names no endpoint ${name}`);
  return address.replace(/\/+$/, '');
}
