import type { PreflightSystem } from '../preflight/types.ts';
import type { Profile } from '../records/profile.ts';
import type { SystemHooks } from './hooks.ts';

/**
 * One declaration is all that hopdrill knows about a system: what to ask, what it means, how it is
 * repaired and proved.
 */
export type SystemDefinition<C> = PreflightSystem<C> &
  SystemHooks & {
    /** The preflight's argv for one node of a deployment; null for a system without nodes. */
    argvFromProfile(profile: Profile, node: string | null): string[];
    /** With what each optional hop is asked; who does not ask for it does not pay for it. */
    readonly optionalHops?: Readonly<Record<string, OptionalHop>>;
  };

export interface OptionalHop {
  /** Fields of the profile, for people. */
  readonly needs: string;
  /** Null on a deployment that lacks them. */
  argv(profile: Profile): readonly string[] | null;
}

/** Fails at once, and says where, when the declaration contradicts itself. */
export function defineSystem<C>(definition: SystemDefinition<C>): SystemDefinition<C> {
  const ids = new Set(definition.hops.map((hop) => hop.id));
  const wrong: string[] = [];
  if (
    ids.size !== definition.hops.length ||
    new Set(definition.hops.map((hop) => hop.order)).size !== definition.hops.length
  )
    wrong.push('two hops share an id or an order');
  for (const hop of definition.hops) {
    const named = [
      ...hop.after,
      ...hop.explainedBy.map((by) => (typeof by === 'string' ? by : by.hop)),
    ];
    wrong.push(
      ...named
        .filter((id) => !ids.has(id))
        .map((id) => `${hop.id} refers to ${id}, which is no hop`),
    );
    wrong.push(
      ...hop.signals
        .filter((name) => definition.signals[name] === undefined)
        .map((name) => `${hop.id} gives ${name}, which is no signal`),
    );
  }
  wrong.push(
    ...definition.hops
      .filter((hop) => hop.optional === true && definition.optionalHops?.[hop.id] === undefined)
      .map((hop) => `${hop.id} is optional, and optionalHops does not say with what it is asked`),
  );
  for (const [name, { advice = {}, causes }] of Object.entries(definition.signals))
    wrong.push(
      ...Object.keys(advice)
        .filter((cause) => !causes.includes(cause))
        .map((cause) => `${name} has advice on ${cause}, which is none of its causes`),
    );
  const given = new Set(definition.hops.flatMap((hop) => hop.signals));
  wrong.push(
    ...Object.keys(definition.signals)
      .filter((name) => !given.has(name))
      .map((name) => `no hop gives ${name}`),
  );
  if (wrong.length > 0) throw new Error(`system ${definition.name}: ${wrong.join('; ')}`);
  return definition;
}
