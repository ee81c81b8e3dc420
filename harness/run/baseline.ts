import { declared } from '../base/spans.ts';
import { until } from '../base/until.ts';
import type { PreflightReport } from '../records/preflight.ts';
import type { RunRecord } from '../records/run-record.ts';
import { seenOf, wordsOf } from '../run-tools/seen.ts';
import type { Tools } from '../run-tools/tools.ts';

export type Baseline = NonNullable<RunRecord['baseline']>;

const patienceMs = 20_000;
const pauseMs = 500;

/**
 * Before anything is broken the same preflight must be green. A platform that just recovered from
 * the run before gets a moment.
 */
export async function baseline(tools: Tools): Promise<Baseline> {
  const { signal } = tools;
  const isGreen = (report: PreflightReport): boolean => report.result === 'healthy';
  const ask = async (): Promise<PreflightReport> => {
    const report = await tools.preflight();
    if (!isGreen(report)) tools.note(`not green yet: ${wordsOf(seenOf(report))}`);
    return report;
  };
  const patience = declared('baseline', { everyMs: pauseMs, withinMs: patienceMs, signal });
  const { answer, met } = await until(ask, isGreen, patience);
  tools.attachJson('preflight-before.json', answer);
  const seen = seenOf(answer);
  return { green: met, detail: wordsOf(seen), seen };
}
