// What a target is like before a fault, so that it can be put back and proven to be back.
import type { FaultPlan } from '../records/fault.ts';
import type { EngineOptions, ExecutedAction } from './engine-types.ts';
import type { Executor } from './execute.ts';
import type { StepRecord } from './ledger.ts';
import { fillAction, fillPlan } from './resolve.ts';
import { digestOf, must } from './step.ts';

/** A step as the engine that injects it knows it: with the whole plan. */
export interface EngineStep extends StepRecord {
  readonly plan: FaultPlan;
}

interface SnapshotContext {
  readonly executor: Executor;
  readonly options: EngineOptions;
  readonly ran: ExecutedAction[];
}

/** Snapshot and digest of one fault. Throws when either cannot be had. */
export async function takeSnapshot(
  { executor, options, ran }: SnapshotContext,
  step: number,
  template: FaultPlan,
): Promise<EngineStep> {
  const snapshots: Record<string, string> = {};
  const filling = { run: options.runId, step, snapshots };
  for (const { name, do: action } of template.snapshot) {
    ran.push({ step, fault: template.fault, phase: 'snapshot', action });
    const result = await must(
      executor,
      `snapshot ${name} of ${template.fault}`,
      fillAction(action, filling),
      { idempotent: true },
    );
    snapshots[name] = result.stdout;
  }
  const plan = fillPlan(template, filling);
  ran.push({ step, fault: template.fault, phase: 'digest', action: template.digest });
  const digestBefore = await digestOf({ plan }, { executor });
  return {
    step,
    plan,
    state: 'intended',
    digestBefore,
    digestInjected: null,
    undoing: false,
    by: 'runner',
    detail: null,
  };
}
