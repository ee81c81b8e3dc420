import { readArguments, WrongUsage } from './arguments.ts';
import { select } from './select.ts';

export const summary = 'list the scenarios';
export const help = `Usage: hopdrill list [scenario|folder|glob ...] [--tag TAG] [--severity P1] [--json]
       hopdrill list --coverage [--json]

One line a scenario: severity, name, title. With --json an array of {name, file, system, source[], severity, tags[]}.

  --coverage     instead: each situation of the catalogue with the scenarios that prove it, or why none does yet
                 (scenarios/<system>/not-yet.yaml), and each signal with the scenarios that expect it

Examples:
  hopdrill list
  hopdrill list --severity P1 --tag network
  hopdrill list ./my-scenarios --system ./my-system.ts --json
  hopdrill list --coverage

Exit codes: 0; with --coverage 1 when nothing is said of a situation; 64 wrong usage or mistakes in a scenario file (all are shown), 70 internal error.
`;

const options = {
  tag: { type: 'string', multiple: true },
  severity: { type: 'string' },
  coverage: { type: 'boolean', default: false },
  json: { type: 'boolean', default: false },
} as const;

export async function run(argv: readonly string[]): Promise<number> {
  const { values, positionals: patterns } = readArguments('list', argv, options);
  const { coverage, tag: tags = [], severity } = values;
  // What a part of the scenarios proves says nothing of the whole.
  if (coverage && (patterns.length > 0 || tags.length > 0 || severity !== undefined))
    throw new WrongUsage('list: --coverage is about all scenarios ("hopdrill list --help")');
  const scenarios = await select({ patterns, tags, severity });
  if (coverage) return (await import('./list-coverage.ts')).listCoverage(scenarios, values.json);
  if (values.json) {
    const rows = scenarios.map(({ file, record }) => ({
      name: record.scenario,
      file,
      system: record.system,
      source: record.source,
      severity: record.severity,
      tags: record.tags,
    }));
    process.stdout.write(`${JSON.stringify(rows, null, 2)}\n`);
    return 0;
  }
  const width = Math.max(...scenarios.map(({ record }) => record.scenario.length));
  for (const { record } of scenarios)
    process.stdout.write(`${record.severity}  ${record.scenario.padEnd(width)}  ${record.title}\n`);
  return 0;
}
