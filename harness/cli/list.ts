import { readArguments } from './arguments.ts';
import { select } from './select.ts';

export const summary = 'list the scenarios';
export const help = `Usage: hopdrill list [scenario|folder|glob ...] [--tag TAG] [--severity P1] [--json]

One line a scenario: severity, name, title. With --json an array of {name, file, system, source[], severity, tags[]}.

Examples:
  hopdrill list
  hopdrill list --severity P1 --tag network
  hopdrill list ./my-scenarios --system ./my-system.ts --json

Exit codes: 0, 64 wrong usage or mistakes in a scenario file (all are shown), 70 internal error.
`;

const options = {
  tag: { type: 'string', multiple: true },
  severity: { type: 'string' },
  json: { type: 'boolean', default: false },
} as const;

export async function run(argv: readonly string[]): Promise<number> {
  const { values, positionals: patterns } = readArguments('list', argv, options);
  const scenarios = await select({ patterns, tags: values.tag ?? [], severity: values.severity });
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
