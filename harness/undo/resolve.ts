// Fills the placeholders of a plan, and says in one line what an action does.
import type { Action } from '../records/action.ts';
import type { FaultPlan } from '../records/fault.ts';

export type Snapshots = Readonly<Record<string, string>>;

export interface Filling {
  readonly run: string;
  readonly step: number;
  readonly snapshots: Snapshots;
}

const pattern = /\{(run|step|snapshot:([a-z0-9-]+))\}/g;

/**
 * In an argument the trailing newline of a snapshot is dropped; in stdin it is kept, since that is
 * often a file.
 */
function fill(text: string, filling: Filling, trim: boolean): string {
  return text.replaceAll(pattern, (_, what: string, name: string | undefined) => {
    if (what === 'run') return filling.run;
    if (what === 'step') return String(filling.step);
    const value = filling.snapshots[name ?? ''];
    if (value === undefined) throw new Error(`no snapshot is called ${name}`);
    return trim ? value.trimEnd() : value;
  });
}

export function fillAction(action: Action, filling: Filling): Action {
  const word = (text: string): string => fill(text, filling, true);
  switch (action.kind) {
    case 'sh':
      return {
        ...action,
        argv: action.argv.map(word),
        ...(action.stdin === undefined ? {} : { stdin: fill(action.stdin, filling, false) }),
      };
    case 'docker':
      return {
        ...action,
        ...(action.argv === undefined ? {} : { argv: action.argv.map(word) }),
        ...(action.stdin === undefined ? {} : { stdin: fill(action.stdin, filling, false) }),
      };
    case 'toxiproxy':
      return {
        ...action,
        ...(action.toxic === undefined
          ? {}
          : { toxic: { ...action.toxic, name: word(action.toxic.name) } }),
        ...(action.toxicName === undefined ? {} : { toxicName: word(action.toxicName) }),
      };
    case 'database':
    case 'http':
      return action;
  }
}

/** Everything but the snapshot steps, which ran already. */
export function fillPlan(plan: FaultPlan, filling: Filling): FaultPlan {
  const one = (action: Action): Action => fillAction(action, filling);
  return {
    ...plan,
    inject: plan.inject.map(one),
    undo: plan.undo.map(one),
    active: one(plan.active),
    digest: one(plan.digest),
  };
}
