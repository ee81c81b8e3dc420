import type { PreflightReport } from '../records/preflight.ts';
import { declaredWait } from '../records/spans.ts';
import { type StageDeps, seenOf, wordsOf } from './deps.ts';

/**
 * Before anything is broken: the same preflight must be green. A platform that just recovered from
 * the run before gets a moment.
 */
export interface Baseline {
  readonly green: boolean;
  readonly report: PreflightReport;
  readonly detail: string;
}

const patienceMs = 20_000;
const pauseMs = 500;

export async function baseline(deps: StageDeps): Promise<Baseline> {
  const started = performance.now();
  for (;;) {
    const report = await deps.preflight();
    const seen = seenOf(report);
    if (report.result === 'healthy') return finish(deps, report, true, 'healthy');
    deps.note(`not green yet: ${wordsOf(seen)}`);
    if (deps.signal.aborted || performance.now() - started > patienceMs)
      return finish(deps, report, false, wordsOf(seen));
    await declaredWait('baseline', pauseMs, deps.signal);
  }
}

function finish(
  deps: StageDeps,
  report: PreflightReport,
  green: boolean,
  detail: string,
): Baseline {
  deps.folder.json('preflight-before.json', report);
  return { green, report, detail };
}
