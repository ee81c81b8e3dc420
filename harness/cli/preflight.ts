import { messageOf } from '../base/message-of.ts';
import { ownFlags } from '../preflight/argv.ts';
import type { AnySystem } from '../preflight/types.ts';
import type { PreflightReport } from '../records/preflight.ts';
import { createRedactor, type Redact, redactValue } from '../records/redact.ts';
import { usualSystem } from '../systems/index.ts';
import { onSignal } from './signals.ts';

export const summary = 'name the first failed hop between a user, the platform and a node';
/** The flags are those of the system that is asked about. */
export async function help(): Promise<string> {
  const { flags, examples = [] } = await usualSystem();
  const flagLines = [...ownFlags, ...flags].map(
    (flag) =>
      `  --${`${flag.name}${flag.kind === 'switch' ? '' : ` <${flag.kind}>`}`.padEnd(38)} ${flag.help}`,
  );
  return `Usage: hopdrill preflight [options]

Asks every hop once, side by side, and names the one that failed, with owner and next action.
Without options it takes the profile of the only running stack.

${flagLines.join('\n')}

Examples:
  hopdrill preflight
  hopdrill preflight --profile ./profile.yaml --json
${examples.map((words) => `  hopdrill preflight ${words}\n`).join('')}  hopdrill preflight --only {hop}

Exit codes: 0 healthy, 1 a hop failed, 2 inconclusive (or partial, with --require-complete), 64 wrong usage, 70 internal error, 130/143 stopped by a signal.
`;
}

type Render = typeof import('../preflight/table.ts').renderTable;

function show(
  system: AnySystem,
  found: PreflightReport,
  json: boolean,
  render: Render,
  redact: Redact,
): void {
  const report = redactValue(redact, found);
  if (json) process.stdout.write(`${JSON.stringify(report, null, 2)}\n`);
  else {
    const colour = process.stdout.isTTY === true && !process.env.NO_COLOR;
    process.stdout.write(render(system, report, { colour, width: process.stdout.columns ?? 160 }));
  }
}

export async function run(argv: readonly string[]): Promise<number> {
  const stop = new AbortController();
  // Before anything is loaded: from here on every way out gives a document.
  const end = onSignal((name) => stop.abort(name === 'SIGINT' ? 'interrupted' : 'terminated'));
  try {
    return await preflight(argv, stop.signal);
  } finally {
    end();
  }
}

async function preflight(argv: readonly string[], signal: AbortSignal): Promise<number> {
  const json = argv.includes('--json');
  const [
    { given, secretsOfRequest },
    { errorReport, exitCodeOf },
    { runPreflight },
    { explanationOf, renderExplanation, renderTable },
  ] = await Promise.all([
    import('./preflight-request.ts'),
    import('../preflight/document.ts'),
    import('../preflight/run.ts'),
    import('../preflight/table.ts'),
  ]);
  let system: AnySystem = await usualSystem();
  let redact = createRedactor([], system.secretForms);
  try {
    if (argv.includes('--explain')) {
      process.stdout.write(
        json ? `${JSON.stringify(explanationOf(system), null, 2)}\n` : renderExplanation(system),
      );
      return 0;
    }
    const wanted = await given(argv);
    system = wanted.system;
    if ('errors' in wanted) {
      for (const error of wanted.errors) process.stderr.write(`preflight: ${redact(error)}\n`);
      const report = errorReport(system, 'usage', wanted.errors.join('\n'));
      if (json) show(system, report, true, renderTable, redact);
      return exitCodeOf(report);
    }
    redact = createRedactor(
      secretsOfRequest(wanted.system, wanted.request),
      wanted.system.secretForms,
    );
    const report = await runPreflight(system, wanted.request, { signal });
    show(system, report, json, renderTable, redact);
    return exitCodeOf(report);
  } catch (error) {
    const report = errorReport(system, 'internal', messageOf(error));
    if (json) show(system, report, true, renderTable, redact);
    else process.stderr.write(`preflight: ${redact(String(report.error?.message))}\n`);
    return exitCodeOf(report);
  }
}
