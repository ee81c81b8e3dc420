import { messageOf } from '../base/message-of.ts';
import type { Plan } from '../plan/plan-scenario.ts';
import type { PreflightReport } from '../records/preflight.ts';
import type { Check, Observation } from '../records/run-record.ts';
import type { Tools } from '../run-tools/tools.ts';
import type { EvidenceSource, HookContext } from '../systems/hooks.ts';

/**
 * Collects what the system declares, while the fault is still active. A source that fails is named
 * and stops nothing; when the catalogue demands what it would have shown, the run cannot pass.
 */
export async function evidence(
  input: {
    readonly plan: Plan;
    readonly report: PreflightReport | null;
    readonly observation: Observation | null;
  },
  tools: Tools,
): Promise<Check[]> {
  const { plan, report, observation } = input;
  const user = observation?.user ?? null;
  // One context for all: sources that share a visit to a node know it by this.
  const context = {
    ...tools.context(report),
    ...(report !== null && { report }),
    ...(user !== null && { user }),
  };
  const demanded = new Set(
    plan.expectation.demanded.flatMap(({ kind, sources }) => (kind === 'evidence' ? sources : [])),
  );
  const sources = Object.entries(tools.system.evidence).filter(
    ([name, source]) => source.onlyWhenAsked !== true || demanded.has(name),
  );
  return Promise.all(
    sources.map(async ([name, source]) => {
      try {
        tools.attach(`evidence/${source.file}`, await textOf(source, tools, context));
        return { name, ok: true, detail: source.file };
      } catch (error) {
        const why = messageOf(error);
        tools.attach(`evidence/${source.file}.missing`, `${name}: ${why}\n`);
        return { name, ok: false, detail: why };
      }
    }),
  );
}

async function textOf(
  source: EvidenceSource,
  { views }: Tools,
  context: HookContext,
): Promise<string> {
  if ('collect' in source) return source.collect(context);
  const { rows } = await views.read(source.view, { context });
  if (rows.length === 0 && source.texts !== undefined) throw new Error('nothing to show');
  return `${JSON.stringify(rows.length === 1 ? rows[0] : rows, null, 2)}\n`;
}

/** What is missing, in words for people; else how much there is. */
export function evidenceWords(collected: readonly Check[]): string {
  const missing = collected.flatMap(({ name, ok, detail }) =>
    ok === true ? [] : [`${name}: ${detail}`],
  );
  return missing.join('; ') || `${collected.length} sources`;
}
