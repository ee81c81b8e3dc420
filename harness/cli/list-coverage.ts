// `hopdrill list --coverage`: what the scenarios prove of the catalogue and of the signals.
import { exitCodes } from '../records/exit-codes.ts';
import type { Scenario } from '../records/scenario.ts';
import { catalogue } from '../scenarios/catalogue.ts';
import { type Coverage, coverageOf, type SituationCovered } from '../scenarios/coverage.ts';
import { vocabulary } from '../scenarios/words.ts';
import { root } from './select.ts';

export async function listCoverage(scenarios: readonly Scenario[], json: boolean): Promise<number> {
  const { systems } = await vocabulary();
  const coverage = coverageOf(scenarios, catalogue(), systems, root);
  const silent = coverage.situations.filter(({ status }) => status === 'silent');
  const ok = silent.length === 0 && coverage.mistakes.length === 0;
  process.stdout.write(
    json ? `${JSON.stringify({ ok, ...coverage }, null, 2)}\n` : coverageText(coverage),
  );
  return ok ? 0 : exitCodes.fail;
}

const statusWords: Readonly<Record<SituationCovered['status'], string>> = {
  proved: 'proved',
  not_yet: 'not yet',
  silent: 'SILENT',
};

function coverageText({ situations, signals, mistakes }: Coverage): string {
  const lines: string[] = [];
  const width = Math.max(0, ...situations.map(({ id }) => id.length));
  for (const group of groups(situations)) {
    const proved = group.filter(({ status }) => status === 'proved').length;
    const { system, domain } = group[0]!;
    lines.push(`${system} ${domain}: ${proved} of ${group.length} proved`);
    for (const { id, status, scenarios, why } of group)
      lines.push(
        `  ${statusWords[status].padEnd(8)} ${id.padEnd(width)}  ${why ?? scenarios.join(', ')}`.trimEnd(),
      );
  }
  lines.push('', 'scenarios that expect each signal of a hop');
  const hopWidth = Math.max(0, ...signals.map(({ hop }) => hop.length));
  const signalWidth = Math.max(0, ...signals.map(({ signal }) => signal.length));
  for (const { hop, signal, scenarios } of signals)
    lines.push(
      `  ${hop.padEnd(hopWidth)}  ${signal.padEnd(signalWidth)}  ${scenarios.join(', ') || '-'}`,
    );
  const count = (status: SituationCovered['status']): number =>
    situations.filter((one) => one.status === status).length;
  const seen = signals.filter(({ scenarios }) => scenarios.length > 0).length;
  lines.push(
    '',
    ...mistakes,
    `${count('proved')} situations proved, ${count('not_yet')} not yet, ${count('silent')} silent; ${seen} of ${signals.length} signals expected by a scenario`,
  );
  return `${lines.join('\n')}\n`;
}

function groups(situations: readonly SituationCovered[]): SituationCovered[][] {
  const byName = Map.groupBy(situations, ({ system, domain }) => `${system} ${domain}`);
  return [...byName.values()];
}
