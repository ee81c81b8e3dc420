import type { z } from 'zod';
import { type FaultPlan, faultPlan, type UndoKind } from '../records/fault.ts';
import type { Profile } from '../records/profile.ts';
import { throughEngine } from './carriers.ts';

export type TargetKind = 'node' | 'part' | 'link' | 'node or part';

interface Declared<S extends z.ZodObject> {
  readonly name: string;
  readonly title: string;
  readonly why: string;
  /** Every field carries a description: `explain` and the schema print it. */
  readonly params: S;
  readonly targetKind: TargetKind;
  /** The parameter that names the target. */
  readonly targetParam: string;
  readonly undoKind: UndoKind;
  /**
   * Files of its own that it leaves on its target, with `{run}` and `{step}` in the name, so that
   * they are found and removed when nobody has the ledger.
   */
  readonly marks?: readonly string[];
  /** Faults that cannot be in together with it, and why: one would undo, hide or block the other. */
  readonly conflicts?: Readonly<Record<string, string>>;
  /** Parameters that tell the place: two of this fault that share them are one. The target alone by default. */
  readonly place?: readonly string[];
  plan(
    params: z.infer<S>,
    target: string,
    profile: Profile,
  ): Omit<z.input<typeof faultPlan>, 'fault' | 'params' | 'target' | 'kind'> & { kind?: UndoKind };
}

export interface FaultDefinition extends Omit<Declared<z.ZodObject>, 'plan'> {
  /**
   * Pure: looks at nothing, says everything that will be done. `target` is a name of the profile:
   * `node-1`, `edge`, `node-1.node-api`.
   */
  plan(params: unknown, target: string, profile: Profile): FaultPlan;
}

const kindOf = (kind: TargetKind, target: string, profile: Profile): string =>
  kind !== 'node or part' ? kind : profile.nodes[target] === undefined ? 'part' : 'node';

export function defineFault<S extends z.ZodObject>(declared: Declared<S>): FaultDefinition {
  return {
    ...declared,
    plan: (raw, target, profile) => {
      const params = declared.params.parse(raw);
      const { name: fault, targetKind, undoKind: kind } = declared;
      const plan = faultPlan.parse({
        fault,
        params,
        target: `${kindOf(targetKind, target, profile)}:${target}`,
        kind,
        ...declared.plan(params, target, profile),
      });
      return throughEngine(plan, profile);
    },
  };
}
