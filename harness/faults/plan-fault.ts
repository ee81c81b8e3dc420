import type { FaultPlan } from '../records/fault.ts';
import type { Profile } from '../records/profile.ts';
import type { FaultDefinition } from './define.ts';

type Faults = readonly FaultDefinition[];

export const faultNamed = (faults: Faults, name: string): FaultDefinition | undefined =>
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

export interface Broken {
  readonly name: string;
  readonly params: unknown;
}

/** What one fault will do to a deployment; `node` is the one that the scenario is about. */
export function planFault(
  faults: Faults,
  { name, params }: Broken,
  profile: Profile,
  node: string | null = Object.keys(profile.nodes)[0] ?? null,
): FaultPlan {
  const fault = faultNamed(faults, name);
  if (fault === undefined)
    throw new Error(`no fault is called ${name} (${faults.map((one) => one.name).join(', ')})`);
  return fault.plan(params, targetOf(fault, params, node), profile);
}
