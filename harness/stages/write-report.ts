import type { EndingSignal } from '../records/exit-codes.ts';
import { redactValue } from '../records/redact.ts';
import type { RunRecord } from '../records/run-record.ts';
import type { StageClock } from './clock.ts';
import { round } from './clock.ts';
import type { StageDeps } from './deps.ts';
import { missingEvidence } from './evidence.ts';
import type { RunFindings } from './findings.ts';
import { conclude, summaryText } from './report.ts';
import { timelineOf } from './timeline.ts';

/** The last stage: everything as one record, beside a page for people. */
export interface Ended {
  readonly clock: StageClock;
  readonly deps: StageDeps;
  readonly interrupted: () => EndingSignal | null;
}

export async function writeReport(
  { clock, deps, interrupted }: Ended,
  found: RunFindings,
): Promise<RunRecord> {
  const end = conclude({
    ...found,
    scenario: deps.scenario,
    missing: missingEvidence(deps.scenario, deps.hooks.evidence, found.evidence),
    auditMode: deps.plan.audit,
    proofs: found.recovery?.proofs ?? [],
    recovered: found.recovery?.recovered ?? null,
    interrupted: interrupted(),
  });
  const { record } = deps.scenario;
  return clock.stage('report', null, () => {
    // What is returned goes to terminals, JUnit and Allure: they get the same bytes as the folder.
    const whole: RunRecord = redactValue(deps.folder.redact, {
      schema_version: 1,
      run_id: deps.runId,
      scenario: record.scenario,
      title: record.title,
      why: record.why,
      file: deps.scenario.file,
      source: record.source,
      tags: record.tags,
      severity: record.severity,
      system: record.system,
      stack: deps.profile.stack,
      node: deps.plan.node,
      started_at: clock.startedAt.toISOString(),
      ended_at: new Date().toISOString(),
      duration_ms: round(clock.elapsed()),
      own_ms: clock.ownMs(),
      verdict: end.verdict,
      reasons: end.reasons,
      expected: {
        hop: record.expect.hop,
        signal: record.expect.signal ?? null,
        cause: record.expect.cause ?? null,
      },
      observation: found.observation,
      effect: found.effect,
      repairs: found.repairs,
      readback: found.readback,
      proofs: found.recovery?.proofs ?? [],
      invariants: found.invariants,
      recovered_after_ms: found.recovery?.afterMs ?? null,
      audit:
        found.audit === null
          ? null
          : { watched: found.audit.watched, until: found.audit.until, edits: found.audit.edits },
      leftovers: end.leftovers,
      stages: [...clock.stages],
      dir: deps.folder.dir,
      interrupted: interrupted() === null ? null : end.exitCode,
    } satisfies RunRecord);
    const entries = redactValue(
      deps.folder.redact,
      timelineOf(clock.startedAt, clock.stages, found.events),
    );
    deps.folder.write(
      'timeline.jsonl',
      `${entries.map((entry) => JSON.stringify(entry)).join('\n')}\n`,
    );
    deps.folder.json('verdict.json', whole);
    deps.folder.write('summary.txt', summaryText(whole));
    return Promise.resolve(whole);
  });
}
