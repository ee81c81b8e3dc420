// Ledgers of the version before are still taken back; one that cannot be read is named, never
// skipped.
import {
  appendFileSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { engineId } from '../../../harness/drivers/engine-id.ts';
import type { Action } from '../../../harness/records/action.ts';
import { type FaultPlan, faultPlan, undoKinds } from '../../../harness/records/fault.ts';
import type { Executor } from '../../../harness/undo/execute.ts';
import { ledgerDir } from '../../../harness/undo/paths.ts';
import { fillAction } from '../../../harness/undo/resolve.ts';
import { digestOf } from '../../../harness/undo/step.ts';
import { leftOnTargets } from '../support/proof.ts';
import {
  executor,
  freshRun,
  ledgerOf,
  stack,
  stackProfile,
  stateDir,
  targets,
  undoByCommand,
} from '../support/undo.ts';

const folder = join(import.meta.dirname, '../../fixtures/ledgers-v1');
const kinds = readdirSync(folder).map((file) => file.replace('.jsonl', ''));

interface StoredLine {
  type: string;
  run?: string;
  stack?: string;
  engine?: string;
  targets?: object;
  plan?: unknown;
  digest_before?: string;
  digest_injected?: string;
}

/** The stored lines, aimed at the stack that is up; their form stays as that version wrote it. */
async function aimed(kind: string, run: string): Promise<{ lines: StoredLine[]; plan: FaultPlan }> {
  const text = readFileSync(join(folder, `${kind}.jsonl`), 'utf8').replaceAll(`v1-${kind}`, run);
  const lines = text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as StoredLine);
  Object.assign(lines[0]!, { stack, engine: await engineId(), targets: targetsOfBefore() });
  return { lines, plan: faultPlan.parse(lines[1]?.plan) };
}

/** That version copied the whole nodes of the profile. */
function targetsOfBefore(): object {
  const { nodes } = stackProfile();
  const { database: _, ...now } = targets();
  const wholeNodes = Object.entries(now.nodes).map(([name, node]) => [
    name,
    { ...nodes[name], ...node },
  ]);
  return { ...now, nodes: Object.fromEntries(wholeNodes) };
}

async function breakAsBefore(on: Executor, plan: FaultPlan, run: string): Promise<string[]> {
  const snapshots: Record<string, string> = {};
  const filling = { run, step: 0, snapshots };
  const must = async (action: Action): Promise<string> => {
    const result = await on.run(fillAction(action, filling));
    expect(result.code, `${JSON.stringify(action).slice(0, 200)}: ${result.stderr}`).toBe(0);
    return result.stdout;
  };
  for (const { name, do: action } of plan.snapshot) snapshots[name] = await must(action);
  const before = await digestOf({ plan }, { executor: on });
  for (const action of plan.inject) await must(action);
  return [before, await digestOf({ plan }, { executor: on })];
}

describe.skipIf(stack === '')('a ledger of version 1', () => {
  test.each(kinds)('%s: undo takes it back and proves it', async (kind) => {
    const on = executor();
    const run = freshRun(`before-${kind}`);
    try {
      const { lines, plan } = await aimed(kind, run);
      const [before, injected] = await breakAsBefore(on, plan, run);
      expect(injected, 'the fault is there').not.toBe(before);
      lines[1]!.digest_before = before!;
      if (lines[2]?.digest_injected !== undefined) lines[2].digest_injected = injected!;
      const dir = ledgerDir(stateDir, await engineId(), run);
      mkdirSync(dir, { recursive: true });
      const text = lines.map((line) => `\n${JSON.stringify(line)}\n`).join('');
      writeFileSync(join(dir, 'ledger.jsonl'), text);
      const { exitCode, report } = await undoByCommand(run);
      expect([exitCode, report.unproven], report.lines.join('\n')).toEqual([0, []]);
      expect(report.runs).toMatchObject([{ run, state: 'taken_back' }]);
      expect(await digestOf({ plan }, { executor: on })).toBe(before);
      expect((await ledgerOf(run)).closed).toBe(true);
      expect(await leftOnTargets()).toEqual([]);
    } finally {
      on.close();
    }
  });

  test('there is one of each kind that this version undoes, but for those that it knew not', () => {
    const since = ['slot', 'api', 'config'];
    expect(kinds.toSorted()).toEqual(undoKinds.filter((kind) => !since.includes(kind)).toSorted());
  });
});

describe.skipIf(stack === '')('a ledger that cannot be read', () => {
  const run = freshRun('unreadable');
  const place = async (): Promise<string> => ledgerDir(stateDir, await engineId(), run);
  afterEach(async () => rmSync(await place(), { recursive: true, force: true }));

  async function write(...more: readonly object[]): Promise<string> {
    const dir = await place();
    mkdirSync(dir, { recursive: true });
    const { lines } = await aimed('toxic', run);
    const file = join(dir, 'ledger.jsonl');
    writeFileSync(file, `\n${JSON.stringify(lines[0])}\n`);
    for (const line of more) appendFileSync(file, `\n${JSON.stringify(line)}\n`);
    return file;
  }

  test.each([
    [
      'of a newer version',
      { type: 'step', v: 99, step: 0 },
      'written by a newer hopdrill (ledger version 99',
    ],
    [
      'with a step whose plan is missing',
      { type: 'step', step: 0, state: 'applied', at: '', by: 'runner' },
      'step 0 has no plan',
    ],
    [
      'with an action that nobody knows',
      {
        type: 'step',
        step: 0,
        state: 'intended',
        at: '',
        by: 'runner',
        plan: { fault: 'f', target: 't', undo: [{ kind: 'telepathy' }], digest: {} },
      },
      'plan.undo.0.kind',
    ],
  ])('%s is unproven and named with its file, exit 3', async (_, line, why) => {
    const file = await write(line);
    const { exitCode, report } = await undoByCommand(run);
    expect(exitCode).toBe(3);
    expect(report.unproven).toHaveLength(1);
    expect(report.unproven[0]).toContain(file);
    expect(report.unproven[0]).toContain(why);
    expect(report.runs).toMatchObject([{ run, state: 'unproven', steps: [] }]);
  });

  test('its neighbour is taken back all the same', async () => {
    await write({ type: 'step', v: 99 });
    const other = freshRun('readable');
    const dir = ledgerDir(stateDir, await engineId(), other);
    mkdirSync(dir, { recursive: true });
    const { lines } = await aimed('toxic', other);
    writeFileSync(join(dir, 'ledger.jsonl'), `\n${JSON.stringify(lines[0])}\n`);
    const { exitCode, report } = await undoByCommand(other);
    expect([exitCode, report.runs.map(({ state }) => state)]).toEqual([0, ['taken_back']]);
  });
});
