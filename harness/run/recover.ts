import { messageOf } from '../drivers/errors.ts';
import type { Plan } from '../plan/plan-scenario.ts';
import type { Check, RunRecord } from '../records/run-record.ts';
import { declaredWait } from '../records/spans.ts';
import { seenOf, wordsOf } from '../run-tools/seen.ts';
import type { Tools } from '../run-tools/tools.ts';

export type Recovery = NonNullable<RunRecord['recovery']>;

/** The proof that is the core's own, for every system. */
const greenProof = 'preflight-green';
const greenInARow = 2;
const pauseMs = 300;

/** The same preflight is green twice in a row, and every proof of the scenario holds, in time. */
export async function recover({ plan }: { readonly plan: Plan }, tools: Tools): Promise<Recovery> {
  const started = performance.now();
  const over = (): boolean =>
    performance.now() - started > plan.run.budgets.recover_ms || tools.signal.aborted;
  const green = await becomesGreen(tools, over);
  const names = plan.run.proofs.filter((name) => name !== greenProof);
  const proofs = [green, ...(await Promise.all(names.map((name) => prove(tools, name, over))))];
  const recovered = proofs.every((proof) => proof.ok === true);
  return { recovered, proofs, after_ms: recovered ? performance.now() - started : null };
}

async function becomesGreen(tools: Tools, over: () => boolean): Promise<Check> {
  let inARow = 0;
  let last = 'no preflight';
  while (inARow < greenInARow) {
    const report = await tools.preflight();
    const seen = seenOf(report);
    last = wordsOf(seen);
    tools.emit('recovery', seen);
    tools.attachJson('preflight-after.json', report);
    inARow = report.result === 'healthy' ? inARow + 1 : 0;
    if (inARow === 0) tools.note(`not yet: ${last}`);
    if (inARow < greenInARow && over()) break;
    if (inARow === 0) await declaredWait('recovery', pauseMs, tools.signal);
  }
  const ok = inARow >= greenInARow;
  return { name: greenProof, ok, detail: ok ? `green ${inARow} times in a row` : last };
}

async function prove(tools: Tools, name: string, over: () => boolean): Promise<Check> {
  const proof = tools.system.proofs[name];
  if (proof === undefined) return { name, ok: null, detail: 'the system has no such proof' };
  for (;;) {
    const result = await proof
      .check(tools.context())
      .catch((error: unknown) => ({ ok: false, detail: messageOf(error) }));
    if (result.ok || over()) return { name, ...result };
    await declaredWait(`proof ${name}`, pauseMs, tools.signal);
  }
}
