import type { RunRecord } from '../records/run-record.ts';
import { declaredWait } from '../records/spans.ts';
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
  const started = performance.now();
  for (;;) {
    const report = await tools.preflight();
    const seen = seenOf(report);
    const words = wordsOf(seen);
    const green = report.result === 'healthy';
    const over = tools.signal.aborted || performance.now() - started > patienceMs;
    if (green || over) {
      tools.attachJson('preflight-before.json', report);
      return { green, detail: words, seen };
    }
    tools.note(`not green yet: ${words}`);
    await declaredWait('baseline', pauseMs, tools.signal);
  }
}
