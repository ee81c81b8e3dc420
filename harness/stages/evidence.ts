import type { PreflightReport } from '../records/preflight.ts';
import type { Check, UserSeen } from '../records/run-record.ts';
import type { Scenario } from '../records/scenario.ts';
import { catalogue } from '../scenarios/catalogue.ts';
import type { EvidenceSource } from '../systems/hooks.ts';
import { hookContext, messageOf, type StageDeps } from './deps.ts';

/**
 * Collects what the system declares, while the fault is still in. A source that fails is named and
 * stops nothing; when the catalogue demands what it would have shown, the run cannot pass.
 */
export async function evidence(
  deps: StageDeps,
  report: PreflightReport | null,
  user: UserSeen | null,
): Promise<Check[]> {
  // One context for all: sources that share a visit to a node know it by this.
  const context = {
    ...hookContext(deps, report),
    ...(report !== null && { report }),
    ...(user !== null && { user }),
  };
  const demanded = new Set(demandedBy(deps.scenario).map(({ text }) => text));
  const asked = Object.entries(deps.hooks.evidence).filter(
    ([, source]) => source.onlyWhenAsked !== true || serves(source, demanded),
  );
  return Promise.all(
    asked.map(async ([name, source]) => {
      try {
        const text = await source.collect(context);
        deps.folder.write(`evidence/${source.file}`, text);
        return { name, ok: true, detail: source.file };
      } catch (error) {
        deps.folder.write(`evidence/${source.file}.missing`, `${name}: ${messageOf(error)}\n`);
        return { name, ok: false, detail: messageOf(error) };
      }
    }),
  );
}

const serves = (source: EvidenceSource, texts: ReadonlySet<string>): boolean =>
  (source.texts ?? []).some((text) => texts.has(text));

/**
 * What the catalogue wants to see for the situations that a scenario proves, with the place of the
 * id in its file.
 */
export function demandedBy({ record }: Pick<Scenario, 'record'>): { text: string; path: string }[] {
  return record.source.flatMap((id, index) =>
    (catalogue().get(id)?.evidence ?? []).map((text) => ({ text, path: `source.${index}` })),
  );
}

/**
 * The demanded texts that nothing collected shows. A text that no source of the system serves is
 * not asked of it.
 */
export function missingEvidence(
  scenario: Pick<Scenario, 'record'>,
  sources: Readonly<Record<string, EvidenceSource>>,
  collected: readonly Check[],
): { text: string; path: string; because: string }[] {
  return demandedBy(scenario).flatMap(({ text, path }) => {
    const names = Object.keys(sources).filter((name) =>
      (sources[name]?.texts ?? []).includes(text),
    );
    const failed = names.flatMap(
      (name) => collected.find((one) => one.name === name && one.ok === false) ?? [],
    );
    return failed.length === 0
      ? []
      : [{ text, path, because: failed.map((one) => `${one.name}: ${one.detail}`).join('; ') }];
  });
}
