import type { FaultDefinition } from '../faults/define.ts';
import type { PreflightReport } from '../records/preflight.ts';
import type { Profile } from '../records/profile.ts';
import type { UserSeen } from '../records/run-record.ts';

/**
 * What a system may hang into a run, beside its hops: repairs, proofs, invariants, evidence, and
 * what the user sees. A hook knows the deployment (profile), and nothing of why it is asked.
 */
export interface HookContext {
  readonly profile: Profile;
  /** The node that the run is about; null for a system without nodes. */
  readonly node: string | null;
  readonly runId: string;
  /** Start of the run's window on the runner's clock; logs and history are cut to it. */
  readonly since: string;
  readonly signal: AbortSignal;
  /** The correlation id of the preflight that was judged, once there is one. */
  readonly correlationId?: string;
  /** What that preflight was about. */
  readonly subject?: PreflightReport['subject'];
  /** The preflight that was judged and what the user saw, where evidence is collected. */
  readonly report?: PreflightReport;
  readonly user?: UserSeen;
  /** Keeps a file beside the record of the run, e.g. a picture. */
  readonly attach?: (name: string, content: string | Uint8Array) => void;
}

/** Seconds from the policy values of the deployment. */
export type Formula = (policies: Readonly<Record<string, number>>) => number;

/** The platform's own procedure; never an edit of its database. */
export interface Repair {
  readonly title: string;
  /** What a person would type; shown by `plan` and `explain`. */
  readonly command: string;
  /** Faults that it puts right. */
  readonly mends: readonly string[];
  run(context: HookContext): Promise<string>;
}

/**
 * One thing that must be true before "recovered". `preflight-green` is the core's own and not
 * listed here.
 */
export interface Proof {
  readonly title: string;
  readonly within: Formula;
  check(context: HookContext): Promise<{ ok: boolean; detail: string }>;
}

/**
 * One must-not of the catalogue. `always`: a state, asked again and again during the whole run;
 * `twice`: something that adds up, asked while the fault is in and after recovery; `fault` and
 * `end`: it means something then only.
 */
export interface Invariant {
  readonly title: string;
  readonly when: 'always' | 'twice' | 'fault' | 'end';
  /** The texts of `must_not` in the catalogue that this stands for. */
  readonly texts: readonly string[];
  before?(context: HookContext): Promise<unknown>;
  /** `held: null` = could not be asked; one that was never asked makes a run inconclusive. */
  check(context: HookContext, before: unknown): Promise<{ held: boolean | null; detail: string }>;
}

/** One file of the evidence folder. */
export interface EvidenceSource {
  readonly file: string;
  readonly title: string;
  /**
   * The texts of `evidence` in the catalogue that it shows. A run whose situation demands one
   * cannot pass without it.
   */
  readonly texts?: readonly string[];
  /** Left out where nobody demands it. */
  readonly onlyWhenAsked?: boolean;
  /** Throws when there is nothing to show. */
  collect(context: HookContext): Promise<string>;
}

/**
 * What the user's page renders, and where the correlation id on it is known on the platform's side.
 */
export interface PageView {
  readonly state: string;
  readonly code: string;
  readonly message: string;
  readonly next: string;
  readonly correlationId: string;
  readonly foundIn: readonly string[];
}

/** Why nobody could look. */
export interface PageUnseen {
  readonly unseen: string;
  /** The profile says so openly. */
  readonly declared: boolean;
  /** Nobody can later either. */
  readonly final: boolean;
}

/**
 * What a user sees: one of the five V3 states, and whether a terminal opens. `error` is the
 * platform's own word; `refused` is a bare refusal, which only a page can put into words; `silent`
 * is neither.
 */
export interface UserView {
  readonly state: string | null;
  readonly access: 'ok' | 'error' | 'refused' | 'silent' | null;
  readonly message: string | null;
  readonly correlationId: string | null;
  /** Where that id is known on the platform's side. */
  readonly foundIn: readonly string[];
  /** From asking for a terminal until it said what it said; null when none was asked for. */
  readonly afterMs: number | null;
  /** What the page renders, or why nobody could look at it; only when it was asked for. */
  readonly page?: PageView | PageUnseen | null;
}

/**
 * Event kinds or reasons read from the platform's own history since a moment; for situations that
 * stay green.
 */
export type History = (
  context: HookContext,
) => Promise<readonly { at: string; kind: string; detail: string }[]>;

/** One event as the platform wrote it down, on the platform's clock. */
export interface PlatformEvent {
  readonly at: string;
  readonly source: string;
  readonly what: string;
  readonly detail: string;
  readonly correlation_id: string | null;
}

/** Everything of the window, and how far the platform's clock is ahead of ours. */
export type Timeline = (
  context: HookContext,
) => Promise<{ readonly clockOffsetMs: number; readonly events: readonly PlatformEvent[] }>;

/** What a run reads of the platform besides the preflight. */
export interface See {
  readonly proofs: Readonly<Record<string, Proof>>;
  readonly invariants: Readonly<Record<string, Invariant>>;
  readonly evidence: Readonly<Record<string, EvidenceSource>>;
  /**
   * How long after the fault the user's view may still be the old one: it follows the platform's
   * own stale window, not the preflight.
   */
  readonly userViewWithin?: Formula;
  /** The same for what opening a terminal comes to, which follows no heartbeat. */
  readonly userAccessWithin?: Formula;
  readonly userView?: (
    context: HookContext,
    wants: { access: boolean; page: boolean },
  ) => Promise<UserView>;
  /** Null: the system keeps no record of its own. */
  readonly history: History | null;
  readonly timeline?: Timeline;
}

/** What can be broken. */
export interface Break {
  readonly faults: readonly FaultDefinition[];
}

/** What operators do to the platform. */
export interface Act {
  readonly repairs: Readonly<Record<string, Repair>>;
}
