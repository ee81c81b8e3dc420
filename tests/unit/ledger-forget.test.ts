// What runs left on a stack goes with the stack: otherwise a new one of its name would be called
// dirty for ever.
import { existsSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { self } from '../../harness/base/owner.ts';
import { forget } from '../../harness/undo/forget.ts';
import { openLedger, readLedger } from '../../harness/undo/ledger.ts';
import { armedDir, ledgerDir } from '../../harness/undo/paths.ts';

const engine = 'an-engine';
const stateDir = mkdtempSync(join(tmpdir(), 'hopdrill-forget-'));

function left(run: string, stack: string, owner: ReturnType<typeof self>): string {
  const dir = ledgerDir(stateDir, engine, run);
  const ledger = openLedger(dir);
  const targets = { stack, nodes: {}, parts: {}, toxiproxy: undefined };
  ledger.append({
    type: 'run',
    run,
    at: 'now',
    stack,
    engine,
    owner,
    lease_seconds: 10,
    deadman: true,
    targets,
  });
  ledger.close();
  writeFileSync(join(armedDir(stateDir, engine, stack), run), '0');
  return dir;
}

test('runs of the stack that is gone are closed; others, and one that goes on, are not', async () => {
  const nobody = { ...self(), boot_id: 'another boot' };
  const dead = left('run-dead', 'mine', nobody);
  const other = left('run-other', 'theirs', nobody);
  const alive = left('run-alive', 'mine', self());
  expect(await forget('mine', { stateDir, engine })).toEqual(['run-dead']);
  expect([dead, other, alive].map((dir) => readLedger(dir).closed)).toEqual([true, false, false]);
  expect(existsSync(join(armedDir(stateDir, engine, 'mine'), 'run-dead'))).toBe(false);
  expect(existsSync(join(armedDir(stateDir, engine, 'theirs'), 'run-other'))).toBe(true);
  expect(await forget('mine', { stateDir, engine })).toEqual([]);
});
