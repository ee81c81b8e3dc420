import { judge } from '../judge/judge.ts';
import type { Plan } from '../plan/plan-scenario.ts';
import type { PreflightReport } from '../records/preflight.ts';
import { redactValue } from '../records/redact.ts';
import type { RunRecord } from '../records/run-record.ts';
import type { TimelineEntry } from '../records/timeline.ts';
import { type Handles, openHandles } from '../run-tools/handles.ts';
import { checkWords } from '../run-tools/seen.ts';
import { summaryText } from '../run-tools/summary.ts';
import { timelineOf } from '../run-tools/timeline.ts';
import type { Tools } from '../run-tools/tools.ts';
import type { Watching } from '../run-tools/watching.ts';
import type { Engine } from '../undo/engine.ts';
import { audit, auditWords } from './audit.ts';
import { baseline } from './baseline.ts';
import { effect } from './effect.ts';
import { evidence, evidenceWords } from './evidence.ts';
import { inject } from './inject.ts';
import { observe, observedWords } from './observe.ts';
import { open } from './open.ts';
import { readback } from './readback.ts';
import { recover } from './recover.ts';
import { repair } from './repair.ts';
import { watch } from './watch.ts';

/**
 * The table of contents of a run. What asks stops at the first part that is missing or says stop;
 * what puts back follows whenever something may be broken. The verdict is given at the end, from
 * the record alone.
 */
export async function runScenario(plan: Plan, tools: Tools): Promise<RunRecord> {
  const handles = openHandles();
  const opened = await tools.step('open', () => open({ plan, handles }, tools), {
    words: ({ refused }) => refused?.because.join('; ') ?? '',
    parts: ({ refused }) => ({ refused }),
  });
  let asked = nothingAsked;
  let events: readonly TimelineEntry[] = [];
  try {
    if (opened?.engine) {
      const platform = { plan, engine: opened.engine, handles };
      asked = await ask(platform, tools);
      await holdUnlessPassed(asked, tools);
      events = await putBack(platform, asked, tools);
    }
  } finally {
    await tools.step('teardown', () => handles.close(), {
      words: (left) => left.join('; '),
      parts: (teardown) => ({ teardown }),
    });
  }
  tools.record({ ended_by: endOf(asked, tools) });
  const record = tools.finish(judge(tools.soFar()));
  const entries = redactValue(tools.redact, timelineOf(record, events));
  tools.attach('timeline.jsonl', entries.map((entry) => `${JSON.stringify(entry)}\n`).join(''));
  tools.attach('summary.txt', summaryText(record));
  return record;
}

interface Platform {
  readonly plan: Plan;
  readonly engine: Engine;
  readonly handles: Handles;
}

interface Asked {
  readonly watching: Watching | null;
  /** Whether inject has begun: from here on there may be something to put back. */
  readonly begun: boolean;
  /** Every fault went in, as far as the engine knows. */
  readonly injected: boolean;
  /** The preflight that is judged. */
  readonly report: PreflightReport | null;
}

const nothingAsked: Asked = { watching: null, begun: false, injected: false, report: null };

async function ask({ plan, engine, handles }: Platform, tools: Tools): Promise<Asked> {
  const { budgets } = plan.run;
  const before = await tools.step('baseline', () => baseline(tools), {
    words: ({ detail }) => detail,
    parts: (found) => ({ baseline: found }),
  });
  if (before?.green !== true || tools.signal.aborted) return nothingAsked;

  const watching = await tools.step('watch', () => watch({ plan, handles }, tools));
  const watched: Asked = { ...nothingAsked, watching: watching ?? null };
  if (watching === undefined || watching.brokenGuard() !== null || tools.signal.aborted)
    return watched;
  const { during, check } = watching.mustNots;

  const done = await tools.step('inject', () => inject({ plan, engine }, tools));
  const broken: Asked = { ...watched, begun: true, injected: done?.injected === true };
  if (!broken.injected) return broken;

  const active = await tools.step('effect', () => during(() => effect({ plan, engine }, tools)), {
    budgetMs: budgets.effect_ms,
    words: checkWords,
    parts: (checks) => ({ effect: checks }),
  });
  if (active?.every(({ ok }) => ok === true) !== true) return broken;

  const seen = await tools.step(
    'observe',
    async () => {
      const observed = await during(() => observe({ plan, engine }, tools));
      return { ...observed, watched: await check('fault') };
    },
    {
      budgetMs: budgets.detect_ms,
      words: ({ observation }) => observedWords(observation),
      parts: ({ observation, watched: mustNots }) => ({ observation, watched: mustNots }),
    },
  );
  if (seen === undefined) return broken;

  await tools.step('evidence', () => evidence({ plan, ...seen }, tools), {
    words: evidenceWords,
    parts: (collected) => ({ evidence: collected }),
  });
  return { ...broken, report: seen.report };
}

/** Gives what the platform wrote down of itself meanwhile. */
async function putBack(
  { plan, engine }: Platform,
  asked: Asked,
  tools: Tools,
): Promise<readonly TimelineEntry[]> {
  const { watching, begun, injected, report } = asked;
  if (begun) {
    await tools.step('repair', () => repair({ plan, engine, injected }, tools), {
      words: ({ checks }) => checkWords(checks),
      parts: ({ checks, differences }) => ({ repairs: checks, differences }),
    });
    await tools.step('readback', () => readback({ plan, engine }), {
      words: checkWords,
      parts: (checks) => ({ readback: checks }),
    });
  }
  if (watching === null) return [];
  if (begun && !tools.signal.aborted)
    await tools.step('recover', () => watching.mustNots.during(() => recover({ plan }, tools)), {
      budgetMs: plan.run.budgets.recover_ms,
      words: ({ proofs }) => checkWords(proofs),
      parts: (recovery) => ({ recovery }),
    });
  const audited = await tools.step('audit', () => audit({ watching, report }, tools), {
    words: auditWords,
    parts: ({ audit: found, invariants }) => ({ audit: found, invariants }),
  });
  return audited?.events ?? [];
}

/** With --keep-on-fail a run that does not pass pauses here, with its fault still active. */
async function holdUnlessPassed({ watching }: Asked, { hold, note, soFar }: Tools): Promise<void> {
  if (hold === undefined || (watching?.brokenGuard() ?? null) !== null) return;
  if (judge(soFar()).verdict === 'pass') return;
  note('held with the fault active');
  // What is broken is put back even if the pause itself throws.
  await hold().catch(() => undefined);
}

/** A guard that broke, or a signal of the user, ended the run before its end. */
function endOf({ watching }: Asked, tools: Tools): RunRecord['ended_by'] {
  const guard = watching?.brokenGuard() ?? null;
  if (guard !== null) {
    const { guard: name, expected, observed } = guard;
    return { kind: 'guard', name, expected, observed };
  }
  const name = tools.interruption();
  return name === null ? null : { kind: 'signal', name };
}
