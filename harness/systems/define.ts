import type { z } from 'zod';
import type { HopDeclaration, PreflightSystem } from '../preflight/types.ts';
import type { Profile } from '../records/profile.ts';
import type { Severity } from '../records/severity.ts';
import { contradictionsIn, contradictionsOfFaults } from './contradictions.ts';
import type { Act, Break, Formula, See } from './hooks.ts';

/** All that a preflight and a scenario file need to know; loaded at once. */
export interface Ask<C> extends Omit<PreflightSystem<C>, 'name' | 'hops'> {
  /** In the order in which they are told; nothing else numbers them. */
  readonly hops: readonly HopDeclaration<C>[];
  /** Options of a preflight, for its help page. */
  readonly examples?: readonly string[];
  /** The preflight's argv for one node of a deployment; null for a system without nodes. */
  argv(profile: Profile, node: string | null): string[];
  /** With what each optional hop is asked; who does not ask for it does not pay for it. */
  readonly optionalHops?: Readonly<Record<string, OptionalHop>>;
  /** What lives on a node, in words like `tenant:one`: a plan says that it may feel a fault there. */
  onNode?(profile: Profile, node: string): readonly string[];
  /** Everything of this system that can be a target. */
  readonly names: Readonly<Record<'nodes' | 'parts' | 'links', readonly string[]>>;
  readonly words: Words;
  readonly budgets: Budgets;
}

/** Words that the platform may say; those of a list that is left out are not checked. */
export interface Words {
  /** What it tells its user of how things stand; the first is how they should. */
  readonly userStates?: readonly string[];
  readonly history?: readonly string[];
  readonly page?: readonly string[];
  /** Names of products and projects that are this platform's own: the core must not say them. */
  readonly properNouns?: readonly string[];
}

/** Seconds. */
export interface Budgets {
  /** Within which trouble must be named, where its signal says nothing of its own. */
  readonly severity: Readonly<Record<Severity, number>>;
  /** Until a fault shows at the latest. */
  readonly effect: Formula;
  /** How long what is broken stays so when the runner is gone. */
  readonly lease: Formula;
  /** Until the platform has seen that all is well again, whatever else is proved. */
  readonly settle: Formula;
  /** Until its user is told another state, which may follow a stale window of the platform. */
  readonly userState?: Formula;
  /** Until what the user asks for has come or was refused. */
  readonly userAccess?: Formula;
}

export interface OptionalHop {
  /** Fields of the profile, for people. */
  readonly needs: string;
  /** Null on a deployment that lacks them. */
  argv(profile: Profile): readonly string[] | null;
}

/**
 * One declaration is all that hopdrill knows about a system. A preflight loads `ask` alone: what
 * reads, repairs and breaks the platform is loaded for runs.
 */
export interface SystemDeclaration<C> {
  readonly name: string;
  readonly ask: Ask<C>;
  /** What a profile of this system has to say; without it anything goes. */
  readonly deployment?: () => Promise<{ readonly schema: DeploymentSchema }>;
  readonly see?: () => Promise<See>;
  readonly act?: () => Promise<Act>;
  /** Faults of its own, besides those that know no system. */
  readonly break?: () => Promise<Break>;
  /** A compose file with `x-hopdrill`, for a system that hopdrill can bring up. */
  readonly stack?: URL;
}

/** Keys of a profile of version 1, of the file and of each node, and what they are called now. */
export interface RenamedKeys {
  readonly file: Readonly<Record<string, string>>;
  readonly node: Readonly<Record<string, string>>;
}

/** Checks the parts of a profile that only the system understands. */
export interface DeploymentSchema {
  readonly renamed?: RenamedKeys;
  readonly endpoints: z.ZodType;
  readonly credentials: z.ZodType;
  /** `own` of each node. */
  readonly node: z.ZodType<Record<string, unknown>>;
  /** `own` of the profile. */
  readonly own: z.ZodType<Record<string, unknown>>;
}

/** The context is made and read by the system alone. */
// biome-ignore lint/suspicious/noExplicitAny: see above
type Anything = any;

export type AskedSystem = PreflightSystem<Anything> & Omit<Ask<Anything>, 'hops'>;
export type System = AskedSystem & See & Act & Break;

export interface DeclaredSystem<C = Anything> extends SystemDeclaration<C> {
  readonly asked: AskedSystem;
  whole(): Promise<System>;
}

const seesNothing: See = { views: {}, proofs: {}, invariants: {}, evidence: {} };
const doesNothing: Act = { repairs: {} };

/** Fails at once, and says where, when the declaration contradicts itself. */
export function defineSystem<C>(declaration: SystemDeclaration<C>): DeclaredSystem<C> {
  const { name, ask, see, act } = declaration;
  const wrong = contradictionsIn(ask);
  if (wrong.length > 0) throw new Error(`system ${name}: ${wrong.join('; ')}`);
  const hops = ask.hops.map((hop, index) => ({ ...hop, order: index + 1 }));
  const asked: AskedSystem = { ...ask, name, hops };
  const whole = async (): Promise<System> => {
    const [{ genericFaults }, { contradictionsOfViews }, seen, done, own] = await Promise.all([
      import('../faults/index.ts'),
      import('./contradictions-of-views.ts'),
      see?.() ?? seesNothing,
      act?.() ?? doesNothing,
      declaration.break?.(),
    ]);
    const faults = [...genericFaults, ...(own?.faults ?? [])];
    const wrong = [...contradictionsOfFaults(faults, done), ...contradictionsOfViews(seen)];
    if (wrong.length > 0) throw new Error(`system ${name}: ${wrong.join('; ')}`);
    return { ...asked, ...seen, ...done, faults };
  };
  return { ...declaration, asked, whole };
}
