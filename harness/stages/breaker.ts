import { engineId } from '../drivers/engine-id.ts';
import { markPlaces } from '../faults/index.ts';
import { openEngine } from '../undo/engine.ts';
import { isFinal } from '../undo/ledger.ts';
import { lock } from '../undo/lock.ts';
import { defaultStateDir } from '../undo/paths.ts';
import { sweep } from '../undo/sweep.ts';
import type { StageDeps } from './deps.ts';
import type { IsActive } from './effect.ts';
import { differences, executedLines, plannedLines } from './executed.ts';
import type { Undoer } from './undo.ts';

/**
 * The undo engine as the stages use it, under the lock of the stack and after a sweep of what
 * crashed runs left.
 */
export interface Breaker extends Undoer {
  prepare(): Promise<void>;
  inject(): Promise<void>;
  readonly isActive: IsActive;
  /** The platform's own procedures have run, at this place among our actions. */
  repaired(names: readonly string[]): void;
  differences(injected: boolean): string[];
  /** What could not be proven; empty when nothing of the run is left. */
  close(): Promise<readonly string[]>;
}

/**
 * An earlier run left what cannot be taken back: such a platform is dirty, whatever this run would
 * have found.
 */
export class LeftoversError extends Error {
  readonly leftovers: readonly string[];
  constructor(leftovers: readonly string[]) {
    super(`leftovers of an earlier run cannot be taken back: ${leftovers.join('; ')}`);
    this.name = 'LeftoversError';
    this.leftovers = leftovers;
  }
}

/**
 * The ledger of a run that was killed elsewhere is not here; its marks are on the targets. One that
 * does not answer is the baseline's to judge.
 */
async function takeBackLeftovers(deps: StageDeps, stateDir: string): Promise<void> {
  const { profile } = deps;
  const swept = await sweep({
    stateDir,
    stack: profile.stack,
    profiles: [profile],
    places: markPlaces,
  });
  for (const line of swept.lines) deps.note(line);
  if (swept.unproven.length > 0) throw new LeftoversError(swept.unproven);
}

export async function openBreaker(
  deps: StageDeps,
  options: { deadman: boolean; stateDir?: string | undefined },
): Promise<Breaker> {
  const stateDir = options.stateDir ?? defaultStateDir();
  const { faults } = deps.plan;
  const held = lock(deps.profile.stack, { stateDir, engine: await engineId(), run: deps.runId });
  if (held.tookOver !== null)
    deps.note(`took over the lock of run ${held.tookOver.run}, whose process is gone`);
  try {
    await takeBackLeftovers(deps, stateDir);
    const engine = await openEngine({
      profile: deps.profile,
      runId: deps.runId,
      runDir: deps.folder.dir,
      deadman: options.deadman,
      stateDir,
      redact: deps.folder.redact,
    });
    const wanted = deps.plan.repair.map(({ name }) => name);
    const none: Parameters<typeof executedLines>[1] = { names: [], after: 0 };
    let repairs = none;
    return {
      get count() {
        return engine.steps.length;
      },
      prepare: () => engine.prepare(faults),
      async inject() {
        for (const index of faults.keys()) await engine.inject(index);
      },
      async isActive(index) {
        const { active, detail } = await engine.isActive(index);
        if (active === null) throw new Error(`our own probe of the effect broke: ${detail}`);
        return { active, detail };
      },
      undo: async (index) => (await engine.undo(index)).detail,
      async verify(index) {
        const outcome = await engine.verify(index);
        return { ok: isFinal(outcome.state), detail: `${outcome.state}: ${outcome.detail}` };
      },
      repaired(names) {
        repairs = {
          names: names.filter((name) => wanted.includes(name)),
          after: engine.executed().length,
        };
      },
      differences(injected) {
        const superseded = engine.steps
          .filter((step) => step.state === 'superseded')
          .map((step) => step.step);
        // Repairs that were never begun, because the run was interrupted, are no difference.
        const planned = plannedLines(faults, repairs === none ? [] : wanted).filter(
          (line) => injected || !/^\d+ inject /.test(line),
        );
        return differences(planned, executedLines(engine.executed(), repairs), superseded);
      },
      async close() {
        try {
          return (await engine.close()).unproven;
        } finally {
          held.release();
        }
      },
    };
  } catch (error) {
    held.release();
    throw error;
  }
}
