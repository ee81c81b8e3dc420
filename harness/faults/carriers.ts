import type { Action } from '../records/action.ts';
import type { FaultPlan } from '../records/fault.ts';
import type { Profile } from '../records/profile.ts';

/**
 * Who puts something back when the runner is gone: the dead-man on a node that one logs into, the
 * watchdog beside the stack for everything else.
 */
export const carrierOf = (action: Action): string =>
  action.kind === 'sh' ? `the dead-man of ${action.node}` : 'the watchdog';

export const carriersOf = ({ undo }: Pick<FaultPlan, 'undo'>): string[] => [
  ...new Set(undo.map(carrierOf)),
];

/** What else has to be there when it is put back, by the names that faults cut. */
export const waysOf = ({ undo }: Pick<FaultPlan, 'undo'>, { links }: Pick<Profile, 'links'>) =>
  undo.flatMap((action) => {
    if (action.kind === 'http') return [`endpoint:${action.endpoint}`];
    return action.kind === 'toxiproxy' && links?.part !== undefined ? [`part:${links.part}`] : [];
  });

/**
 * A node that is a container and has no SSH has no dead-man either: what is done there goes through
 * the engine, and the watchdog holds it.
 */
export function throughEngine(plan: FaultPlan, { nodes }: Pick<Profile, 'nodes'>): FaultPlan {
  const one = (action: Action): Action => {
    if (action.kind !== 'sh') return action;
    const node = nodes[action.node];
    if (node === undefined || node.ssh !== undefined || node.lifeline.kind !== 'docker')
      return action;
    const { kind: _, node: part, ...rest } = action;
    return { kind: 'docker', verb: 'exec', part, ...rest };
  };
  return {
    ...plan,
    snapshot: plan.snapshot.map((step) => ({ ...step, do: one(step.do) })),
    inject: plan.inject.map(one),
    undo: plan.undo.map(one),
    active: one(plan.active),
    digest: one(plan.digest),
  };
}
