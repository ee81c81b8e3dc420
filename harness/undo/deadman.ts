// Arms, renews and removes the dead-man of a run on one node. What it does is in deadman.pl.ts.
import type { Action, ShAction } from '../records/action.ts';
import type { FaultPlan } from '../records/fault.ts';
import { deadmanProgram } from './deadman.pl.ts';
import type { Executor } from './execute.ts';
import type { StepRecord } from './ledger.ts';
import type { StepContext } from './step.ts';

export const nodeDir = (run: string): string => `/var/lib/hopdrill/${run}`;

const hex = (text: string): string => (text === '' ? '-' : Buffer.from(text).toString('hex'));

const onThisNode =
  (node: string) =>
  (action: Action): action is ShAction =>
    action.kind === 'sh' && action.node === node;

/** The undos of one node in a form that perl reads without a parser: words in hexadecimal. */
export function serialiseSteps(node: string, steps: readonly StepRecord[]): string {
  const line = (key: string, action: ShAction): string =>
    `${key} ${action.okCodes.join(',')} ${hex(action.stdin ?? '')} ${action.argv.map(hex).join(' ')}`;
  return steps
    .flatMap(({ step, plan, digestBefore }) => {
      const undo = plan.undo.filter(onThisNode(node));
      if (undo.length === 0) return [];
      const { digest } = plan;
      const verifies = onThisNode(node)(digest);
      return [
        `step ${step} ${plan.supersedable && verifies ? 1 : 0} ${verifies ? 1 : 0}`,
        ...(verifies
          ? [`before ${Buffer.from(digestBefore).toString('hex')}`, line('digest', digest)]
          : []),
        ...undo.map((action) => line('undo', action)),
      ];
    })
    .map((text) => `${text}\n`)
    .join('');
}

/** Nodes on which something will have to be taken back. */
export function nodesOf(steps: readonly { plan: StepRecord['plan'] }[]): string[] {
  return [
    ...new Set(
      steps.flatMap(({ plan }) =>
        plan.undo.flatMap((action) => (action.kind === 'sh' ? [action.node] : [])),
      ),
    ),
  ];
}

/** Nodes on which anything is done at all: a snapshot alone leaves copies there. */
export function nodesTouched(plans: readonly FaultPlan[]): string[] {
  const all = plans.flatMap(({ snapshot, inject, undo }) => [
    ...snapshot.map((one) => one.do),
    ...inject,
    ...undo,
  ]);
  return [...new Set(all.flatMap((action) => (action.kind === 'sh' ? [action.node] : [])))];
}

const installScript = `# arm the dead-man
set -e; umask 077; d="/var/lib/hopdrill/$1"; mkdir -p "$d"; printf %s "$3" > "$d/deadman.pl"; : > "$d/steps"; sync "$d/deadman.pl"
exec perl "$d/deadman.pl" install "$1" "$2"`;

const entrustScript = `# hand over the undos
set -e; umask 077; d="/var/lib/hopdrill/$1"; cat > "$d/steps.new"; sync "$d/steps.new"; mv "$d/steps.new" "$d/steps"`;

/**
 * Also for a node where nothing was armed. The parent goes when it is empty, so that nothing of
 * ours remains.
 */
const removeScript = `# remove the dead-man
u="hopdrill-$1.service"
[ -e "/etc/systemd/system/$u" ] && systemctl stop "$u" 2>/dev/null
rm -f "/etc/systemd/system/multi-user.target.wants/$u" "/etc/systemd/system/$u"
# A reload while it was there left it in systemd's memory.
[ -z "$(systemctl list-units --all --no-legend "$u")" ] || systemctl daemon-reload
rm -rf "/var/lib/hopdrill/$1"; rmdir /var/lib/hopdrill 2>/dev/null; exit 0`;

const rememberScript = `# remember what the fault left
umask 077; printf %s "$3" > "/var/lib/hopdrill/$1/injected.$2"`;

/**
 * The note is taken away, which needs no room: without it the dead-man never takes a half-done undo
 * for a repair.
 */
const beginScript = `# the undo begins
rm -f "/var/lib/hopdrill/$1/injected.$2"`;

const begunScript = `# whether the dead-man has begun
[ -d "/var/lib/hopdrill/$1" ] && [ ! -e "/var/lib/hopdrill/$1/injected.$2" ] && exit 10; exit 0`;

type OnNode = Pick<Executor, 'onNode'>;

/** What `revert` asks about steps whose digest is taken on a node. */
export function nodeNotes(
  executor: OnNode,
  run: string,
): Pick<StepContext, 'begunOnTarget' | 'beginOnTarget'> {
  const ask = async ({ step, plan }: StepRecord, script: string): Promise<number> => {
    if (plan.digest.kind !== 'sh') return 0;
    return (
      await executor.onNode(plan.digest.node, ['sh', '-c', script, 'hopdrill', run, String(step)], {
        idempotent: true,
      })
    ).code;
  };
  return {
    begunOnTarget: async (step) => (await ask(step, begunScript)) === 10,
    beginOnTarget: async (step) => void (await ask(step, beginScript)),
  };
}

/** Starts it with nothing to undo yet: it would only take the folder of the run away. */
export async function arm(
  executor: OnNode,
  node: string,
  run: string,
  seconds: number,
): Promise<void> {
  const argv = ['sh', '-c', installScript, 'hopdrill', run, String(seconds), deadmanProgram];
  const result = await executor.onNode(node, argv, { idempotent: true });
  if (result.code !== 0)
    throw new Error(
      `the dead-man could not be armed on ${node}: ${result.stderr.trim() || result.stdout.trim()}`,
    );
}

/** Hands it what it will have to undo, in one piece. */
export async function entrust(
  executor: OnNode,
  node: string,
  run: string,
  steps: readonly StepRecord[],
): Promise<void> {
  const result = await executor.onNode(node, ['sh', '-c', entrustScript, 'hopdrill', run], {
    stdin: serialiseSteps(node, steps),
    idempotent: true,
  });
  if (result.code !== 0)
    throw new Error(`the dead-man of ${node} did not take the undos: ${result.stderr.trim()}`);
}

export async function renewOn(
  executor: OnNode,
  node: string,
  run: string,
  seconds: number,
): Promise<boolean> {
  const argv = ['perl', `${nodeDir(run)}/deadman.pl`, 'renew', run, String(seconds)];
  return (await executor.onNode(node, argv, { idempotent: true, timeoutMs: 2500 })).code === 0;
}

export async function rememberInjected(
  executor: OnNode,
  node: string,
  run: string,
  step: number,
  digest: string,
): Promise<void> {
  await executor.onNode(
    node,
    [
      'sh',
      '-c',
      rememberScript,
      'hopdrill',
      run,
      String(step),
      Buffer.from(digest).toString('hex'),
    ],
    {
      idempotent: true,
    },
  );
}

export async function disarm(executor: OnNode, node: string, run: string): Promise<void> {
  const result = await executor.onNode(node, ['sh', '-c', removeScript, 'hopdrill', run], {
    idempotent: true,
  });
  if (result.code !== 0)
    throw new Error(`the dead-man could not be removed from ${node}: ${result.stderr.trim()}`);
}
