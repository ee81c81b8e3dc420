import { messageOf } from '../base/message-of.ts';
import { declared, declaredWait } from '../base/spans.ts';
import { until } from '../base/until.ts';
import { worstOf } from '../items/judge-item.ts';
import type { Plan } from '../plan/plan-scenario.ts';
import type { Item } from '../records/item.ts';
import type { Check, RunRecord } from '../records/run-record.ts';
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
  tools.views.forget();
  const leftMs = (): number => plan.run.budgets.recover_ms - (performance.now() - started);
  const green = await becomesGreen(tools, () => leftMs() < 0 || tools.signal.aborted);
  const names = plan.run.proofs.filter((name) => name !== greenProof);
  const proven = await Promise.all(names.map((name) => prove(tools, name, leftMs())));
  const proofs = [green, ...proven];
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

async function prove(tools: Tools, name: string, withinMs: number): Promise<Check> {
  const proof = tools.system.proofs[name];
  if (proof === undefined) return { name, ok: null, detail: 'the system has no such proof' };
  const ask = (): Promise<Omit<Check, 'name'>> =>
    ('observe' in proof ? observed(tools, proof.observe) : proof.check(tools.context())).catch(
      (error: unknown) => ({ ok: null, detail: messageOf(error) }),
    );
  const patience = { everyMs: pauseMs, withinMs, signal: tools.signal };
  const { answer } = await until(ask, ({ ok }) => ok === true, declared(`proof ${name}`, patience));
  return { name, ...answer };
}

async function observed({ views }: Tools, items: readonly Item[]): Promise<Omit<Check, 'name'>> {
  const { holds, detail } = worstOf(
    await Promise.all(items.map((item) => views.judge(item, null, { maxAgeMs: pauseMs }))),
  );
  return { ok: holds, detail };
}
