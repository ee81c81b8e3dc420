import { expect, test } from 'vitest';
import type { StageDeps } from '../../harness/stages/deps.ts';
import { repairThenUndo } from '../../harness/stages/undo.ts';

const deps = {
  plan: { faults: [{ fault: 'link.cut', target: 'link:a' }] },
} as unknown as StageDeps;

test('repairs that break are a failed check, and the undo follows', async () => {
  const undo = (index: number) => Promise.resolve(`undone ${index}`);
  const undoer = { count: 1, undo, verify: () => Promise.resolve({ ok: true, detail: '' }) };
  expect(
    await repairThenUndo(deps, undoer, () => Promise.reject(new Error('no such unit'))),
  ).toEqual([
    { name: 'repair', ok: false, detail: 'no such unit' },
    { name: 'undo link.cut on link:a', ok: true, detail: 'undone 0' },
  ]);
});
