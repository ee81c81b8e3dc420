/**
 * Breaks things in a way that can always be taken back: snapshot and digest first, then the ledger,
 * then the dead-man, then the fault. Nothing is injected whose prior state could not be read. The
 * undo actions in the ledger are the only ones that run.
 */
import { dirname } from 'node:path';
import { messageOf } from '../base/message-of.ts';
import { self } from '../base/owner.ts';
import { engineId } from '../drivers/engine-id.ts';
import type { FaultPlan, StepState } from '../records/fault.ts';
import type { NewLine } from '../records/ledger.ts';
import { nodeNotes, rememberInjected } from './deadman.ts';
import type { Engine, EngineOptions, ExecutedAction } from './engine-types.ts';
import { createExecutor } from './execute.ts';
import {
  armAll,
  disarmAll,
  entrustAll,
  type Held,
  leaseOf,
  leaveNotes,
  renew,
  stopRenewing,
} from './holding.ts';
import { copyLedger, prune } from './keep.ts';
import { isFinal, type Ledger, openLedger } from './ledger.ts';
import { defaultStateDir, ledgerDir } from './paths.ts';
import { type EngineStep, takeSnapshot } from './snapshot.ts';
import { digestOf, must, revert, type StepContext, type StepOutcome, verify } from './step.ts';
import { targetsOf } from './targets.ts';

export type { Engine, EngineOptions } from './engine-types.ts';

interface Inner extends Held {
  readonly dir: string;
  readonly ledger: Ledger;
  /** What the ledger begins with. */
  readonly opening: NewLine;
  readonly steps: EngineStep[];
  readonly ran: ExecutedAction[];
}

const now = (): string => new Date().toISOString();

export async function openEngine(options: EngineOptions): Promise<Engine> {
  const stateDir = options.stateDir ?? defaultStateDir();
  const engine = await engineId();
  const dir = ledgerDir(stateDir, engine, options.runId);
  const leaseSeconds = options.leaseSeconds ?? leaseOf(options.profile, options.usualLeaseSeconds);
  const targets = targetsOf(options.profile, {
    stateDir,
    ...(options.profileDir === undefined ? {} : { profileDir: options.profileDir }),
  });
  const ledger = openLedger(dir);
  const opening: NewLine = {
    type: 'run',
    run: options.runId,
    at: now(),
    stack: options.profile.stack,
    engine,
    owner: self(),
    lease_seconds: leaseSeconds,
    deadman: options.deadman ?? true,
    targets,
  };
  ledger.append(opening);
  const inner: Inner = {
    ...{
      options,
      targets,
      engine,
      stateDir,
      dir,
      leaseSeconds,
      ledger,
      opening,
      executor: createExecutor(targets),
    },
    ...{
      steps: [],
      templates: [],
      ran: [],
      lease: null,
      timer: null,
      renewal: null,
      armed: false,
      noted: [],
    },
  };
  return {
    dir,
    get steps() {
      return inner.steps;
    },
    prepare: (plans) => prepare(inner, plans),
    inject: (index) => inject(inner, index),
    isActive: (index) => isActive(inner, index),
    undo: (index) => undo(inner, index),
    verify: (index) => verifyStep(inner, index),
    renew: () => renew(inner),
    close: () => close(inner),
    executed: () => inner.ran,
  };
}

const point = async (inner: Inner, name: string): Promise<void> => inner.options.onPoint?.(name);

async function prepare(inner: Inner, plans: readonly FaultPlan[]): Promise<void> {
  if (inner.steps.length > 0) throw new Error('this engine is prepared already');
  inner.templates.push(...plans);
  try {
    // Before the first copy is laid down on a target: whatever is left there has somebody who takes
    // it away.
    if (inner.options.deadman ?? true) await armAll(inner);
    await point(inner, 'armed');
    for (const [step, template] of plans.entries())
      inner.steps.push(await takeSnapshot(inner, step, template));
  } catch (error) {
    // Nothing was broken: take away the copies that the snapshots made, and forget the run.
    inner.steps.length = 0;
    await leaveNothing(inner).catch(() => {});
    throw error;
  }
  const intended = inner.steps.map(intention);
  for (const line of intended) inner.ledger.append(line);
  await point(inner, 'intended');
  await Promise.all([
    inner.armed ? entrustAll(inner, inner.steps) : undefined,
    leaveNotes(inner, [inner.opening, ...intended]),
  ]);
  await point(inner, 'ready');
}

const intention = ({ step, plan, digestBefore }: EngineStep): NewLine => ({
  type: 'step',
  step,
  state: 'intended',
  at: now(),
  by: 'runner',
  plan,
  digest_before: digestBefore,
});

function stepAt(inner: Inner, index: number): EngineStep {
  const step = inner.steps[index];
  if (step === undefined) throw new Error(`no step ${index} is prepared`);
  return step;
}

function advance(
  inner: Inner,
  index: number,
  state: StepState,
  more: { digestInjected?: string; detail?: string } = {},
): void {
  inner.steps[index] = { ...stepAt(inner, index), ...more, state };
}

async function inject(inner: Inner, index: number): Promise<void> {
  const step = stepAt(inner, index);
  if (step.state !== 'intended')
    throw new Error(`step ${index} is ${step.state}: it cannot be injected`);
  try {
    for (const [at, action] of step.plan.inject.entries()) {
      inner.ran.push({
        step: index,
        fault: step.plan.fault,
        phase: 'inject',
        action: inner.templates[index]!.inject[at]!,
      });
      await must(inner.executor, `inject of ${step.plan.fault}`, action);
      if (at === 0) await point(inner, 'injecting');
    }
    await point(inner, 'injected');
    const digestInjected = step.plan.supersedable
      ? await digestOf(step, { executor: inner.executor })
      : undefined;
    const digest = digestInjected === undefined ? {} : { digest_injected: digestInjected };
    inner.ledger.append({
      type: 'step',
      step: index,
      state: 'applied',
      at: now(),
      by: 'runner',
      ...digest,
    });
    advance(inner, index, 'applied', digestInjected === undefined ? {} : { digestInjected });
    const { digest: how } = step.plan;
    if (digestInjected !== undefined && inner.armed && how.kind === 'sh') {
      await rememberInjected(inner.executor, how.node, inner.options.runId, index, digestInjected);
    }
  } catch (error) {
    const detail = messageOf(error);
    inner.ledger.append({
      type: 'step',
      step: index,
      state: 'ambiguous',
      at: now(),
      by: 'runner',
      detail,
    });
    advance(inner, index, 'ambiguous', { detail });
    throw error;
  }
  await point(inner, 'applied');
}

async function isActive(
  inner: Inner,
  index: number,
): Promise<{ active: boolean | null; detail: string }> {
  const { plan } = stepAt(inner, index);
  inner.ran.push({
    step: index,
    fault: plan.fault,
    phase: 'active',
    action: inner.templates[index]!.active,
  });
  try {
    const result = await inner.executor.run(plan.active, { idempotent: true });
    const detail = (result.stdout || result.stderr).trim().slice(0, 400);
    return { active: result.code === 0 ? true : result.code === 1 ? false : null, detail };
  } catch (error) {
    return { active: null, detail: messageOf(error) };
  }
}

function contextOf(inner: Inner, index: number): StepContext {
  const template = inner.templates[index]!;
  return {
    ...nodeNotes(inner.executor, inner.options.runId),
    executor: inner.executor,
    by: 'runner',
    append: (line) => inner.ledger.append(line),
    onAction: (phase, at) =>
      inner.ran.push({
        step: index,
        fault: template.fault,
        phase,
        action: phase === 'digest' ? template.digest : template.undo[at]!,
      }),
  };
}

async function undo(inner: Inner, index: number): Promise<StepOutcome> {
  await point(inner, 'undoing');
  const outcome = await revert(stepAt(inner, index), contextOf(inner, index));
  advance(inner, index, outcome.state, { detail: outcome.detail });
  await point(inner, 'reverted');
  return outcome;
}

async function verifyStep(inner: Inner, index: number): Promise<StepOutcome> {
  const outcome = await verify(stepAt(inner, index), contextOf(inner, index));
  if (isFinal(outcome.state)) advance(inner, index, outcome.state, { detail: outcome.detail });
  await point(inner, 'verified');
  return outcome;
}

async function close(inner: Inner): Promise<{ clean: boolean; unproven: readonly string[] }> {
  await stopRenewing(inner);
  const unproven = inner.steps
    .filter(({ state }) => !isFinal(state))
    .map(({ step, plan, state }) => `step ${step} ${plan.fault} on ${plan.target}: ${state}`);
  try {
    if (unproven.length === 0) await leaveNothing(inner);
  } catch (error) {
    unproven.push(messageOf(error));
  } finally {
    // First what holds the process: a copy that fails must not leave connections open.
    inner.lease?.close();
    inner.ledger.close();
    inner.executor.close();
    if (inner.options.runDir !== undefined)
      copyLedger(inner.ledger.file, inner.options.runDir, inner.options.redact);
  }
  return { clean: unproven.length === 0, unproven };
}

/**
 * The dead-man goes only after everything is proven; then nothing of the run is left but its
 * ledger.
 */
async function leaveNothing(inner: Inner): Promise<void> {
  await disarmAll(inner);
  await point(inner, 'disarmed');
  inner.ledger.append({ type: 'closed', at: now(), by: 'runner' });
  prune(dirname(inner.dir));
}
