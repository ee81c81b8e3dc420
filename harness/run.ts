import { type Check, type Observation, type RunRecord, unseenWords } from './records/run-record.ts';
import type { Scenario } from './records/scenario.ts';
import { startAudit } from './stages/audit.ts';
import { breaksDatabase, holdSlot } from './stages/audit-slot.ts';
import { baseline } from './stages/baseline.ts';
import type { Breaker } from './stages/breaker.ts';
import type { StageClock } from './stages/clock.ts';
import { messageOf, type StageDeps, wordsOf } from './stages/deps.ts';
import { effect, stillActive } from './stages/effect.ts';
import { evidence } from './stages/evidence.ts';
import { emptyFindings, type RunFindings, refused } from './stages/findings.ts';
import { brokenBefore, type GuardBroken, guarded } from './stages/guards.ts';
import { watchInvariants } from './stages/invariants.ts';
import { judge } from './stages/judge.ts';
import { observe } from './stages/observe.ts';
import { openRun, type Run, type RunInput } from './stages/open.ts';
import { recover } from './stages/recover.ts';
import { platformEvents } from './stages/timeline.ts';
import { readback, repairThenUndo, runRepairs } from './stages/undo.ts';
import { writeReport } from './stages/write-report.ts';

/**
 * The table of contents of a run. Each line is one stage; this file is the only caller of stages.
 * Whatever happens between inject and the end, repair, readback, recover, audit and report follow.
 */
export async function runScenario(scenario: Scenario, input: RunInput): Promise<RunRecord> {
  const run = await openRun(scenario, input);
  const { clock, deps } = run;
  if (run.refusals.length > 0)
    return writeReport(run, refused(scenario, run.refusals, run.leftovers));
  const found = emptyFindings();
  const stop = (why: GuardBroken): void => {
    found.guard ??= why;
    deps.note(why.message);
    run.abort(why);
  };
  try {
    await guarded(deps, stop, () => breakIt(run.breaker(), clock, deps, input, found));
  } catch (error) {
    found.judged = {
      verdict: 'inconclusive',
      reasons: [
        {
          field: clock.stages.at(-1)?.stage ?? 'run',
          expected: 'to its end',
          observed: messageOf(error),
        },
      ],
    };
  }
  try {
    if (found.judged.verdict !== 'pass' && found.guard === null) await held(run, input);
    await putBack(run.breaker(), clock, deps, found);
  } catch (error) {
    found.readback.push({ name: 'putting back', ok: false, detail: messageOf(error) });
  }
  // Also when a stage before it broke, e.g. because the run folder cannot be written any more.
  await found.writes?.finish();
  const unproven = await run.close().catch((error: unknown) => [messageOf(error)]);
  for (const detail of unproven) found.readback.push({ name: 'at the end', ok: false, detail });
  return writeReport(run, found);
}

/**
 * Left as it is for somebody to look at; whatever goes wrong with that, what is broken is put back.
 */
async function held({ deps, folder }: Run, { options }: RunInput): Promise<void> {
  if (options?.hold === undefined) return;
  const over = options.hold(folder.dir);
  try {
    deps.note('held with the fault in');
    await over;
  } catch {}
}

async function breakIt(
  breaker: Breaker,
  clock: StageClock,
  deps: StageDeps,
  input: RunInput,
  found: RunFindings,
): Promise<void> {
  const { withoutInjection = false } = input.options ?? {};
  const before = await clock.stage(
    'baseline',
    null,
    async () => {
      const first = await baseline(deps);
      found.guard ??= await brokenBefore(deps);
      found.writes = await startAudit(deps.profile, deps.runId, await slotFor(deps, input));
      found.watch = await watchInvariants(deps);
      return first;
    },
    (first) => first.detail,
  );
  // Told to end meanwhile, or a guard does not hold even now: nothing is broken any more.
  if (deps.signal.aborted || found.guard !== null) return;
  if (!before.green) {
    found.judged = {
      verdict: 'inconclusive',
      reasons: [{ field: 'baseline', expected: 'healthy', observed: before.detail }],
    };
    return;
  }
  await clock.stage('inject', null, async () => {
    // Set first: a preparation that breaks half way has armed something that must go again.
    found.prepared = true;
    await breaker.prepare();
    if (withoutInjection || deps.signal.aborted) return;
    found.injected = true;
    await breaker.inject();
  });
  await proveEffect(breaker, clock, deps, input, found);
  if (found.effect.every((check) => check.ok === true))
    await observeWhileBroken(breaker, clock, deps, input, found);
  found.judged = await clock.stage(
    'judge',
    null,
    () => Promise.resolve(judge({ ...found, scenario: deps.scenario })),
    (judged) => judged.verdict,
  );
  found.evidence = await clock.stage(
    'evidence',
    null,
    () => evidence(deps, found.report, found.observation?.user ?? null),
    (collected) =>
      collected
        .flatMap((one) => (one.ok === true ? [] : [`${one.name}: ${one.detail}`]))
        .join('; ') || `${collected.length} sources`,
  );
}

/** Whether the fault does what it says; without that, nothing is asked of the platform. */
async function proveEffect(
  breaker: Breaker,
  clock: StageClock,
  deps: StageDeps,
  input: RunInput,
  found: RunFindings,
): Promise<void> {
  const { withoutInjection = false, forgeEffect = false } = input.options ?? {};
  const { effect_ms } = deps.plan.budgets;
  found.effect = await clock.stage(
    'effect',
    effect_ms,
    async () => {
      if (forgeEffect)
        return deps.plan.faults.map((fault) => ({ name: fault.fault, ok: true, detail: 'forged' }));
      return watched(found, () => effect(deps, breaker.isActive, withoutInjection ? 0 : effect_ms));
    },
    checkWords,
  );
}

/** What the preflight and the user see, and whether the fault was still there by then. */
async function observeWhileBroken(
  breaker: Breaker,
  clock: StageClock,
  deps: StageDeps,
  input: RunInput,
  found: RunFindings,
): Promise<void> {
  const { forgeEffect = false } = input.options ?? {};
  const { observation, report } = await clock.stage(
    'observe',
    deps.plan.budgets.detect_ms,
    async () => {
      const seen = await watched(found, () => observe(deps));
      const still =
        forgeEffect || deps.signal.aborted ? true : await stillActive(deps, breaker.isActive);
      found.invariants = (await found.watch?.check('fault')) ?? [];
      return { ...seen, observation: { ...seen.observation, still_active: still } };
    },
    (seen) => observedWords(seen.observation),
  );
  found.observation = observation;
  found.report = report;
}

async function putBack(
  breaker: Breaker,
  clock: StageClock,
  deps: StageDeps,
  found: RunFindings,
): Promise<void> {
  const { budgets } = deps.plan;
  if (found.prepared) {
    const repairs = async (): Promise<Check[]> => {
      if (deps.signal.aborted || !found.injected) return [];
      const done = await runRepairs(deps, breaker.isActive);
      breaker.repaired(done.map(({ name }) => name));
      return done;
    };
    found.repairs = await writtenDownOrNot(
      () => repairThenUndo(deps, breaker, repairs),
      (work) => clock.stage('repair', null, work, checkWords),
    );
    found.readback = await writtenDownOrNot(
      () => readback(deps, breaker),
      (work) => clock.stage('readback', null, work, checkWords),
    );
    found.differences = breaker.differences(found.injected);
    if (!deps.signal.aborted)
      found.recovery = await clock.stage(
        'recover',
        budgets.recover_ms,
        () => watched(found, () => recover(deps)),
        (recovery) => checkWords(recovery.proofs),
      );
  }
  await clock.stage(
    'audit',
    null,
    async () => {
      found.audit = (await found.writes?.finish()) ?? null;
      for (const detail of found.audit?.left ?? [])
        found.readback.push({ name: 'the audit', ok: false, detail });
      found.events = await platformEvents(deps, found.report);
      if (deps.signal.aborted || found.watch === undefined) return;
      found.invariants = await found.watch.check('end');
      // Judged again with all readings of the must-nots; all other records are the same.
      if (found.observation !== null) found.judged = judge({ ...found, scenario: deps.scenario });
    },
    () => auditWords(found),
  );
}

/** A run that breaks the database itself needs a slot that outlives a session. */
async function slotFor({ plan, profile, runId, folder }: StageDeps, { options }: RunInput) {
  if (!breaksDatabase(plan, profile)) return null;
  const { deadman, stateDir } = options ?? {};
  const { redact } = folder;
  return holdSlot({
    profile,
    runId,
    redact,
    ...(deadman !== undefined && { deadman }),
    ...(stateDir !== undefined && { stateDir }),
  });
}

/** Must-nots that are states are asked meanwhile. */
const watched = <T>({ watch }: RunFindings, work: () => Promise<T>): Promise<T> =>
  watch === undefined ? work() : watch.during(work);

/**
 * A run folder that cannot be written, on a full disk of ours, is no reason to leave a fault in.
 */
async function writtenDownOrNot<T>(
  work: () => Promise<T>,
  stage: (once: () => Promise<T>) => Promise<T>,
): Promise<T> {
  let done: Promise<T> | undefined;
  const once = (): Promise<T> => (done ??= work());
  return stage(once).catch(once);
}

function checkWords(checks: readonly Check[]): string {
  return checks
    .map(
      (check) =>
        `${check.name}: ${check.ok === true ? 'yes' : check.ok === false ? 'no' : 'unknown'} (${check.detail})`,
    )
    .join('; ');
}

function observedWords({ judged, user }: Observation): string {
  const unseen = user?.page_unseen ?? null;
  return [
    judged === null ? 'nothing classified' : wordsOf(judged),
    ...(unseen === null ? [] : [unseenWords(unseen)]),
  ].join('; ');
}

function auditWords({ audit }: RunFindings): string {
  if (audit === null) return 'not audited';
  return (
    audit.problem ?? (audit.edits.length === 0 ? 'only the platform wrote' : audit.edits.join('; '))
  );
}
