import { expect, test } from 'vitest';
import type { Plan } from '../../harness/plan/plan-scenario.ts';
import { repair } from '../../harness/run/repair.ts';
import type { Tools } from '../../harness/run-tools/tools.ts';
import { Refused } from '../../harness/systems/hooks.ts';
import type { Engine } from '../../harness/undo/engine.ts';

const fault = { fault: 'link.cut', target: 'link:a', snapshot: [], inject: [], undo: [] };
const plan = {
  run: { faults: [fault], repair: [{ name: 'agent.start' }] },
} as unknown as Plan;
const engine = {
  steps: [{ step: 0, state: 'applied' }],
  executed: () => [],
  undo: (index: number) => Promise.resolve({ state: 'reverted', detail: `undone ${index}` }),
} as unknown as Engine;
const toolsWhere = (error: Error): Tools =>
  ({
    signal: new AbortController().signal,
    context: () => ({}),
    system: { repairs: { 'agent.start': { run: () => Promise.reject(error) } } },
  }) as unknown as Tools;

test.each([
  ['the platform refuses', new Refused('no such unit'), false],
  ['breaks, so that nobody knows', new Error('no such unit'), null],
])('a procedure that %s is a check that says so, and the undo follows', async (_, error, ok) => {
  const { checks } = await repair({ plan, engine, injected: true }, toolsWhere(error));
  expect(checks).toEqual([
    { name: 'agent.start', ok, detail: 'no such unit' },
    { name: 'undo link.cut on link:a', ok: true, detail: 'undone 0' },
  ]);
});
