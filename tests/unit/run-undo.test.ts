import { expect, test } from 'vitest';
import type { Plan } from '../../harness/plan/plan-scenario.ts';
import { repair } from '../../harness/run/repair.ts';
import type { Tools } from '../../harness/run-tools/tools.ts';
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
const tools = {
  signal: new AbortController().signal,
  context: () => ({}),
  system: { repairs: { 'agent.start': { run: () => Promise.reject(new Error('no such unit')) } } },
} as unknown as Tools;

test('a procedure of the platform that breaks is a failed check, and the undo follows', async () => {
  const { checks } = await repair({ plan, engine, injected: true }, tools);
  expect(checks).toEqual([
    { name: 'agent.start', ok: false, detail: 'no such unit' },
    { name: 'undo link.cut on link:a', ok: true, detail: 'undone 0' },
  ]);
});
