import type { HopReport, PreflightReport } from '../records/preflight.ts';
import type { SecretForm } from '../records/redact.ts';
import type { Severity } from '../records/severity.ts';

/**
 * What a system tells the preflight about itself. The preflight knows no hop, signal, flag or
 * address of its own.
 */
export type Policies = Readonly<Record<string, number>>;
export type FlagValue = string | number | boolean;
export type Step = HopReport['steps'][number];
export type Evidence = HopReport['evidence'][number];
export type RuledOut = HopReport['ruled_out'][number];
export type Vantage = HopReport['vantage'];

/** What one probe found. Never a guess about other hops: causality is the attribution's work. */
export interface Finding {
  readonly status: 'pass' | 'fail' | 'warn' | 'unknown' | 'skipped';
  readonly summary: string;
  readonly signal?: string;
  readonly cause?: string;
  readonly blames?: string;
  readonly target?: string | null;
  readonly vantage?: Vantage;
  readonly deadlineMs?: number;
  readonly steps?: readonly Step[];
  readonly evidence?: readonly Evidence[];
  readonly ruledOut?: readonly RuledOut[];
  readonly hint?: string;
  /** Why somebody might see it otherwise: the hop is named with low confidence. */
  readonly doubts?: readonly string[];
  /** What was learned here about an earlier hop; it counts when that one did not fail by itself. */
  readonly charges?: { readonly hop: string; readonly finding: Finding };
  /** Why a run without a failed hop cannot be called healthy although this one did not fail. */
  readonly inconclusive?: string;
}

/**
 * A hop whose failure makes this one's a consequence; `whenBlames` narrows it to one blamed
 * resource.
 */
export type Explainer = string | { readonly hop: string; readonly whenBlames: string };

/** What the causal rule needs to know about a hop. */
export interface HopRule {
  readonly id: string;
  readonly order: number;
  readonly explainedBy: readonly Explainer[];
  /** A side hop is the failed hop only when nothing else is a root, and it explains nobody. */
  readonly side?: boolean;
}

export interface HopDefinition<C = never> extends HopRule {
  readonly title: string;
  /** The minimum section of the report that this hop fills. */
  readonly section: string;
  readonly vantage: Vantage;
  /** Hops whose findings it reads: scheduling only, never causality. */
  readonly after: readonly string[];
  readonly signals: readonly string[];
  /** Asked for on purpose only: a report without it is not partial. */
  readonly optional?: boolean;
  /** A net under the probe's own deadlines. */
  deadlineMs(policies: Policies): number;
  /** Why this hop is not asked for, or null. */
  skip(request: Request): string | null;
  run(context: C, earlier: (id: string) => Finding): Promise<Finding>;
}

/** Who does what next. */
export interface Advice {
  readonly owner: string;
  readonly next: string;
  readonly command?: string;
}
/** For one cause; without an owner the owner of the signal. A command belongs to its sentence. */
export type OwnAdvice = Omit<Advice, 'owner'> & { readonly owner?: string };

export interface Signal extends Advice {
  /** For causes that want another next action than the signal as a whole. */
  readonly advice?: Readonly<Record<string, OwnAdvice>>;
  /** Seconds from the fault until a preflight must name it. */
  readonly within: (policies: Policies) => number;
  readonly severity: Severity;
  /** Seconds that the seeds give this one; without it the budget of its severity holds. */
  readonly budget?: number;
  readonly causes: readonly string[];
  /** Not one of the seeds' dashboard names. */
  readonly ours?: boolean;
}

export interface Flag {
  readonly name: string;
  readonly kind: 'text' | 'address' | 'url' | 'file' | 'port' | 'seconds' | 'switch';
  readonly help: string;
  /** Which part of the report is missing without it. */
  readonly lacking?: string;
  /** With one that says where the platform is no profile is needed; one may say which node is meant. */
  readonly says?: 'platform' | 'node';
  /** The file holds a credential: what it holds is never shown. */
  readonly secret?: true;
}

/** The only input of a preflight: what parseArgv made of argv. */
export interface Request {
  readonly argv: readonly string[];
  readonly flags: Readonly<Record<string, FlagValue>>;
}

export interface RunHandle {
  readonly runId: string;
  readonly correlationId: string;
  readonly startedAt: Date;
  readonly signal: AbortSignal;
  /** Runs at the end, whatever the end is. */
  defer(close: () => void | Promise<void>): void;
}

/** What only the system can say once all hops have spoken. */
export interface Conclusion {
  readonly userState: PreflightReport['user_state'];
  readonly userAccess: PreflightReport['user_access'];
  readonly scope: PreflightReport['scope'];
  readonly subject: PreflightReport['subject'];
  readonly proof: string | null;
}

export interface PreflightSystem<C = never> {
  readonly name: string;
  readonly hops: readonly HopDefinition<C>[];
  readonly signals: Readonly<Record<string, Signal>>;
  readonly causes: Readonly<Record<string, string>>;
  readonly resources: Readonly<Record<string, string>>;
  readonly flags: readonly Flag[];
  /** Secrets that are known by their form, besides the usual ones. */
  readonly secretForms?: readonly SecretForm[];
  /** Mistakes in flags that only the system can see, e.g. one that needs another. */
  checkFlags?(flags: Request['flags']): string[];
  environment(request: Request): PreflightReport['environment'];
  open(request: Request, run: RunHandle): C;
  /** Policy values of the deployment; must not throw. */
  policies(context: C): Promise<Policies>;
  conclude(
    context: C,
    outcome: { failed: string | null; findings: ReadonlyMap<string, Finding> },
  ): Promise<Conclusion>;
  /** After a healthy run, e.g. to leave a note at the platform; failures are ignored. */
  healthy?(context: C): Promise<void>;
}

/** As a system declares it: the order is that of the list. */
export type HopDeclaration<C = never> = Omit<HopDefinition<C>, 'order'>;

/** A system whose context type is of no interest to the caller. */
// biome-ignore lint/suspicious/noExplicitAny: the context is made and read by the system alone
export type AnySystem = PreflightSystem<any>;
