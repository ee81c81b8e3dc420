/**
 * Breaks things in a way that can always be taken back: snapshot and digest first, then the ledger,
 * then the dead-man, then the fault. Nothing is injected whose prior state could not be read. The
 * undo actions in the ledger are the only ones that run.
 */
import { rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { engineId } from '../drivers/engine-id.ts';
import { messageOf } from '../drivers/errors.ts';
import type { Action } from '../records/action.ts';
import type { FaultPlan, StepState } from '../records/fault.ts';
import type { Targets } from '../records/ledger.ts';
import type { Profile } from '../records/profile.ts';
import {
  arm,
  disarm,
  entrust,
  nodeNotes,
  nodesOf,
  nodesTouched,
  rememberInjected,
  renewOn,
} from './deadman.ts';
import type { Engine, EngineOptions, ExecutedAction } from './engine-types.ts';
import { createExecutor, type Executor } from './execute.ts';
import { copyLedger, prune } from './keep.ts';
import { type LeaseWriter, openLease } from './lease.ts';
import { isFinal, type Ledger, openLedger, type StepRecord } from './ledger.ts';
import { self } from './owner.ts';
import { armedDir, defaultStateDir, ledgerDir, targetsOf } from './paths.ts';
import { fillAction, fillPlan } from './resolve.ts';
import { digestOf, must, revert, type StepContext, type StepOutcome, verify } from './step.ts';
import { ensureWatchdog } from './watchdog-start.ts';

export type { Engine } from './engine-types.ts';

interface Inner {
  readonly options: EngineOptions;
  readonly targets: Targets;
  readonly engine: string;
  readonly stateDir: string;
  readonly dir: string;
  readonly leaseSeconds: number;
  readonly executor: Executor;
  readonly ledger: Ledger;
  readonly steps: StepRecord[];
  readonly templates: FaultPlan[];
  readonly ran: ExecutedAction[];
  lease: LeaseWriter | null;
  timer: NodeJS.Timeout | null;
  /** The renewal under way; one at a time, and none left over at the end. */
  renewal: Promise<void> | null;
  armed: boolean;
}

const now = (): string => new Date().toISOString();

export async function openEngine(options: EngineOptions): Promise<Engine> {
  const stateDir = options.stateDir ?? defaultStateDir();
  const engine = await engineId();
  const dir = ledgerDir(stateDir, engine, options.runId);
  const leaseSeconds = options.leaseSeconds ?? leaseOf(options.profile);
  const targets = targetsOf(options.profile, {
    stateDir,
    ...(options.profileDir === undefined ? {} : { profileDir: options.profileDir }),
  });
  const ledger = openLedger(dir);
  const inner: Inner = {
    ...{
      options,
      targets,
      engine,
      stateDir,
      dir,
      leaseSeconds,
      ledger,
      executor: createExecutor(targets),
    },
    ...{ steps: [], templates: [], ran: [], lease: null, timer: null, renewal: null, armed: false },
  };
  const deadman = options.deadman ?? true;
  const { runId: run, profile } = options;
  ledger.append({
    type: 'run',
    run,
    at: now(),
    stack: profile.stack,
    engine,
    owner: self(),
    lease_seconds: leaseSeconds,
    deadman,
    targets,
  });
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

/** Longer where everything is slower; a policy of the profile may say otherwise. */
function leaseOf({ policies, environment }: Profile): number {
  return policies['undo.lease_seconds'] ?? (environment === 'seed-defaults' ? 60 : 10);
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
      inner.steps.push(await look(inner, step, template));
  } catch (error) {
    // Nothing was broken: take away the copies that the snapshots made, and forget the run.
    inner.steps.length = 0;
    await leaveNothing(inner).catch(() => {});
    throw error;
  }
  for (const step of inner.steps) {
    inner.ledger.append({
      type: 'step',
      step: step.step,
      state: 'intended',
      at: now(),
      by: 'runner',
      plan: step.plan,
      digest_before: step.digestBefore,
    });
  }
  await point(inner, 'intended');
  if (inner.armed)
    await Promise.all(
      nodesOf(inner.steps).map((node) =>
        entrust(inner.executor, node, inner.options.runId, inner.steps),
      ),
    );
  await point(inner, 'ready');
}

/** Snapshot and digest of one fault. Throws when either cannot be had. */
async function look(inner: Inner, step: number, template: FaultPlan): Promise<StepRecord> {
  const snapshots: Record<string, string> = {};
  const filling = { run: inner.options.runId, step, snapshots };
  for (const { name, do: action } of template.snapshot) {
    inner.ran.push({ step, fault: template.fault, phase: 'snapshot', action });
    const result = await must(
      inner.executor,
      `snapshot ${name} of ${template.fault}`,
      fillAction(action, filling),
      { idempotent: true },
    );
    snapshots[name] = result.stdout;
  }
  const plan = fillPlan(template, filling);
  inner.ran.push({ step, fault: template.fault, phase: 'digest', action: template.digest });
  const digestBefore = await digestOf({ plan }, { executor: inner.executor });
  return {
    step,
    plan,
    state: 'intended',
    digestBefore,
    digestInjected: null,
    undoing: false,
    by: 'runner',
    detail: null,
  };
}

/** What a node cannot put back itself: containers, files in them, and links. */
export const isHeldByWatchdog = (action: Action): boolean => action.kind !== 'sh';

async function armAll(inner: Inner): Promise<void> {
  const { executor, leaseSeconds, templates, options, stateDir, engine, targets } = inner;
  const run = options.runId;
  const arming = nodesTouched(inner.templates).map((node) =>
    arm(executor, node, run, leaseSeconds),
  );
  if (templates.some((plan) => plan.undo.some(isHeldByWatchdog))) {
    inner.lease = openLease(join(armedDir(stateDir, engine, targets.stack), run));
    inner.lease.renew(leaseSeconds);
    arming.push(ensureWatchdog({ stateDir, engine, stack: targets.stack }).then(() => {}));
  }
  inner.armed = true;
  const results = await Promise.allSettled(arming);
  const failed = results.find((result) => result.status === 'rejected');
  if (failed !== undefined) throw failed.reason;
  inner.timer = setInterval(() => void renew(inner).catch(() => {}), (leaseSeconds * 1000) / 4);
  inner.timer.unref();
}

/** A renewal that fails is not an error here: the dead-man will act, and `isActive` will say so. */
async function renew(inner: Inner): Promise<void> {
  if (!inner.armed) return;
  inner.renewal ??= renewAll(inner).finally(() => {
    inner.renewal = null;
  });
  return inner.renewal;
}

async function renewAll(inner: Inner): Promise<void> {
  const { lease, leaseSeconds, executor, options } = inner;
  lease?.renew(leaseSeconds);
  await Promise.allSettled(
    nodesTouched(inner.templates).map((node) =>
      renewOn(executor, node, options.runId, leaseSeconds),
    ),
  );
}

function stepAt(inner: Inner, index: number): StepRecord {
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
  if (inner.timer !== null) clearInterval(inner.timer);
  await inner.renewal;
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
  const run = inner.options.runId;
  await Promise.all(nodesTouched(inner.templates).map((node) => disarm(inner.executor, node, run)));
  inner.armed = false;
  rmSync(join(armedDir(inner.stateDir, inner.engine, inner.targets.stack), run), { force: true });
  await point(inner, 'disarmed');
  inner.ledger.append({ type: 'closed', at: now(), by: 'runner' });
  prune(dirname(inner.dir));
}
