// An undo engine whose faults do nothing: everything else of a run is real.
import type { FaultPlan } from '../../../harness/records/fault.ts';
import { type Engine, openEngine } from '../../../harness/undo/engine.ts';
import type { ExecutedAction } from '../../../harness/undo/engine-types.ts';

export const openIdleEngine: typeof openEngine = async (options) => {
  const engine = await openEngine(options);
  const pretended: ExecutedAction[] = [];
  let plans: readonly FaultPlan[] = [];
  let before = 0;
  const idle: Pick<Engine, 'prepare' | 'inject' | 'executed'> = {
    prepare(given) {
      plans = given;
      return engine.prepare(given.map((plan) => ({ ...plan, inject: [] })));
    },
    inject(step) {
      before = engine.executed().length;
      const { fault, inject } = plans[step]!;
      for (const action of inject) pretended.push({ step, fault, phase: 'inject', action });
      // The ledger says that the fault is in: the undo must know what a repair replaces after it.
      return engine.inject(step);
    },
    executed: () => engine.executed().toSpliced(before, 0, ...pretended),
  };
  return Object.assign(Object.create(engine) as Engine, idle);
};
