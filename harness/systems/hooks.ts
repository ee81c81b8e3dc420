import type { FaultDefinition } from '../faults/define.ts';
import type { Item } from '../records/item.ts';
import type { PreflightReport } from '../records/preflight.ts';
import type { Profile } from '../records/profile.ts';
import type { UserSeen } from '../records/run-record.ts';
import type { View } from './view.ts';

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
  /** Whatever it throws besides `Refused` says that nobody knows whether the platform can do it. */
  run(context: HookContext): Promise<string>;
}

/** The platform answered, and did not do what it was told. */
export class Refused extends Error {}

/**
 * One thing that must be true before "recovered". `preflight-green` is the core's own and not
 * listed here.
 */
export type Proof = {
  readonly title: string;
  /** For what is to be seen in views: by itself the longest formula of those views. */
  readonly within?: Formula;
} & (Observed | { check(context: HookContext): Promise<{ ok: boolean; detail: string }> });

/** Said by what is to be seen in views. */
export interface Observed {
  readonly observe: readonly Item[];
}

/**
 * One must-not of the catalogue. `always`: a state, asked again and again during the whole run;
 * `twice`: something that adds up, asked while the fault is in and after recovery; `fault` and
 * `end`: it means something then only. `audit`: the write audit of every run answers it.
 */
export type Invariant = {
  readonly title: string;
  /** The texts of `must_not` in the catalogue that this stands for. */
  readonly texts: readonly string[];
} & (Watched | { readonly when: 'audit' });

export type Watched = {
  readonly when: 'always' | 'twice' | 'fault' | 'end';
} & (Observed | Checked);

/** What items cannot say. */
export interface Checked {
  before?(context: HookContext): Promise<unknown>;
  /** `held: null` = could not be asked; one that was never asked makes a run inconclusive. */
  check(context: HookContext, before: unknown): Promise<{ held: boolean | null; detail: string }>;
}

/** One file of the evidence folder. */
export type EvidenceSource = {
  readonly file: string;
  readonly title: string;
  /**
   * The texts of `evidence` in the catalogue that it shows. A run whose situation demands one
   * cannot pass without it.
   */
  readonly texts?: readonly string[];
  /** Left out where nobody demands it. */
  readonly onlyWhenAsked?: boolean;
} & (
  | { /** Written as JSON. */ readonly view: Item }
  | { /** Throws when there is nothing to show. */ collect(context: HookContext): Promise<string> }
);

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
  readonly views: Readonly<Record<string, View>>;
  readonly proofs: Readonly<Record<string, Proof>>;
  readonly invariants: Readonly<Record<string, Invariant>>;
  readonly evidence: Readonly<Record<string, EvidenceSource>>;
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
