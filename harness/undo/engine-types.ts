// The seam of the undo engine: what opens it, and what it can do.
import type { Action } from '../records/action.ts';
import type { FaultPlan } from '../records/fault.ts';
import type { Profile } from '../records/profile.ts';
import type { StepRecord } from './ledger.ts';
import type { StepOutcome } from './step.ts';

export interface EngineOptions {
  readonly profile: Profile;
  readonly runId: string;
  /** The ledger is copied here when the engine closes. */
  readonly runDir?: string;
  readonly leaseSeconds?: number;
  /** Where neither this nor the profile says one. */
  readonly usualLeaseSeconds?: number;
  /** `false` only for a platform that has nowhere to put one, and only when asked for. */
  readonly deadman?: boolean;
  readonly stateDir?: string;
  readonly profileDir?: string;
  readonly redact?: (text: string) => string;
  /** Called at each named point of a step; the kill matrix dies in it. */
  readonly onPoint?: (point: string) => void | Promise<void>;
}

export type Phase = 'snapshot' | 'digest' | 'inject' | 'active' | 'undo';

export interface ExecutedAction {
  readonly step: number;
  readonly fault: string;
  readonly phase: Phase;
  /** As planned, with its placeholders. */
  readonly action: Action;
}

export interface Engine {
  readonly dir: string;
  readonly steps: readonly StepRecord[];
  prepare(plans: readonly FaultPlan[]): Promise<void>;
  inject(index: number): Promise<void>;
  /** `null`: our own probe broke. */
  isActive(index: number): Promise<{ active: boolean | null; detail: string }>;
  undo(index: number): Promise<StepOutcome>;
  verify(index: number): Promise<StepOutcome>;
  renew(): Promise<void>;
  /** Every step back and proven: removes dead-man and lease. Otherwise they stay armed. */
  close(): Promise<{ clean: boolean; unproven: readonly string[] }>;
  executed(): readonly ExecutedAction[];
}
