import type { Check } from '../records/run-record.ts';
import { declaredWait } from '../records/spans.ts';
import { greenProof, hookContext, messageOf, type StageDeps, seenOf, wordsOf } from './deps.ts';

/**
 * Recovered: the same preflight is green twice in a row, and every proof of the scenario holds,
 * inside the deadline.
 */
export interface Recovery {
  readonly recovered: boolean;
  readonly afterMs: number | null;
  readonly proofs: Check[];
}

const wantedInARow = 2;
const pauseMs = 300;

export async function recover(deps: StageDeps): Promise<Recovery> {
  const started = performance.now();
  const over = (): boolean =>
    performance.now() - started > deps.plan.budgets.recover_ms || deps.signal.aborted;
  const green = await greenInARow(deps, over);
  const names = deps.plan.proofs.filter((name) => name !== greenProof);
  const proofs = [green, ...(await Promise.all(names.map((name) => prove(deps, name, over))))];
  const recovered = proofs.every((proof) => proof.ok === true);
  return { recovered, proofs, afterMs: recovered ? performance.now() - started : null };
}

async function greenInARow(deps: StageDeps, over: () => boolean): Promise<Check> {
  let inARow = 0;
  let last = 'no preflight';
  while (inARow < wantedInARow) {
    const report = await deps.preflight();
    const seen = seenOf(report);
    last = wordsOf(seen);
    deps.folder.append('recovery.jsonl', seen);
    deps.folder.json('preflight-after.json', report);
    inARow = report.result === 'healthy' ? inARow + 1 : 0;
    if (inARow === 0) deps.note(`not yet: ${last}`);
    if (inARow < wantedInARow && over()) break;
    if (inARow === 0) await declaredWait('recovery', pauseMs, deps.signal);
  }
  return {
    name: greenProof,
    ok: inARow >= wantedInARow,
    detail: inARow >= wantedInARow ? `green ${inARow} times in a row` : last,
  };
}

async function prove(deps: StageDeps, name: string, over: () => boolean): Promise<Check> {
  const proof = deps.hooks.proofs[name];
  if (proof === undefined) return { name, ok: null, detail: 'the system has no such proof' };
  for (;;) {
    let detail: string;
    try {
      const found = await proof.check(hookContext(deps));
      if (found.ok) return { name, ok: true, detail: found.detail };
      detail = found.detail;
    } catch (error) {
      detail = messageOf(error);
    }
    if (over()) return { name, ok: false, detail };
    await declaredWait(`proof ${name}`, pauseMs, deps.signal);
  }
}
