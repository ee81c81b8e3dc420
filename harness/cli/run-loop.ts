import { type Row, rowOf, summaryEvent, table, worstOf } from '../../reports/summary.ts';
import { engineId } from '../drivers/engine-id.ts';
import { exitCodes, interruptionOf } from '../records/exit-codes.ts';
import type { Profile } from '../records/profile.ts';
import type { Scenario } from '../records/scenario.ts';
import { runOn } from '../run.ts';
import { defaultStateDir } from '../undo/paths.ts';
import { registerRunner } from '../undo/runners.ts';
import { progress } from './progress.ts';
import { stopOnSignals } from './stopping.ts';

/** Runs scenarios one after the other on each stack; several stacks take from one list. */
export interface LoopOptions {
  readonly profiles: readonly Profile[];
  readonly deadman: boolean;
  readonly keepOnFail: boolean;
  /** Where run folders go; the usual place when it is left out. */
  readonly out: string | undefined;
  readonly json: boolean;
}

export async function runAll(
  scenarios: readonly Scenario[],
  options: LoopOptions,
): Promise<number> {
  const stopping = stopOnSignals((text) => void process.stderr.write(`${text}\n`));
  const show = progress(options.json);
  const queue = [...scenarios];
  const rows: Row[] = [];
  const codes: number[] = [];
  const engine = await engineId();
  const worker = async (profile: Profile): Promise<void> => {
    const unregister = registerRunner(profile.stack, defaultStateDir(), engine);
    await runOneByOne(profile).finally(unregister);
  };
  const runOneByOne = async (profile: Profile): Promise<void> => {
    const next = (): Scenario | undefined => (stopping.leaving() ? undefined : queue.shift());
    for (let scenario = next(); scenario !== undefined; scenario = next()) {
      const record = await runOn(scenario, {
        profile,
        events: show.event,
        options: {
          signal: stopping.signal,
          deadman: options.deadman,
          ...(options.keepOnFail && { hold: stopping.hold }),
          ...(options.out !== undefined && { out: options.out }),
        },
      });
      rows.push(rowOf(record));
      show.event({
        event: 'verdict',
        at: record.ended_at,
        scenario: record.scenario,
        run_id: record.run_id,
        verdict: record.verdict,
        reasons: record.reasons,
        duration_ms: record.duration_ms,
        own_ms: record.own_ms,
        dir: record.dir,
      });
      const interruption = interruptionOf(record.ended_by);
      if (interruption !== null) codes.push(interruption);
    }
  };
  let broken: unknown;
  try {
    // A run that broke ends its own stack; on the others something may still have to be put back.
    const ended = await Promise.allSettled(options.profiles.map(worker));
    broken = ended.find((one) => one.status === 'rejected')?.reason;
  } finally {
    stopping.close();
  }
  if (options.json)
    show.event(
      broken === undefined
        ? summaryEvent(rows)
        : { ...summaryEvent(rows), verdict: worstOf([...rows, { verdict: 'aborted' }]) },
    );
  else process.stdout.write(`\n${table(rows)}\n`);
  if (broken !== undefined) throw broken;
  const worst = worstOf(rows);
  if (worst === 'dirty') return exitCodes.dirty;
  // A run that was held and then went to its end has its verdict; the signal says that others did
  // not run.
  const cutShort = stopping.signal.aborted || queue.length > 0;
  return codes[0] ?? (cutShort ? stopping.exitCode() : undefined) ?? exitCodes[worst];
}
