// The table for people: every section of the runbook, cause and next action under the row that
// failed.
import { styleText } from 'node:util';
import type { PreflightExplanation } from '../records/documents.ts';
import type { HopReport, PreflightReport } from '../records/preflight.ts';
import { adviceOn } from './advice.ts';
import { missingWords } from './document.ts';
import type { AnySystem } from './types.ts';

const marks: Readonly<Record<HopReport['status'], string>> = {
  pass: 'pass',
  fail: 'FAIL',
  warn: 'warn',
  unknown: 'unknown',
  skipped: 'skipped',
  not_run: 'not run',
};
const colours = {
  pass: 'green',
  fail: 'red',
  warn: 'yellow',
  unknown: 'yellow',
  skipped: 'dim',
  not_run: 'dim',
} as const;

const milliseconds = (ms: number): string =>
  ms >= 1000 ? `${(ms / 1000).toFixed(1)}s` : `${Math.round(ms)}ms`;
const clip = (text: string, most: number): string =>
  text.length > most ? `${text.slice(0, most - 3)}...` : text;

export interface TableOptions {
  readonly colour: boolean;
  readonly width: number;
}

export function renderTable(
  system: AnySystem,
  report: PreflightReport,
  options: TableOptions,
): string {
  const paint = (status: HopReport['status'], text: string) =>
    options.colour ? styleText(colours[status], text, { validateStream: false }) : text;
  const widest = Math.max(3, ...report.hops.map((hop) => hop.id.length));
  const left = 2 + widest + 2 + 8 + 8;
  const lines = [heading(report), ''];
  for (const hop of report.hops) {
    const section = system.hops.find((one) => one.id === hop.id)?.section ?? '';
    const time =
      hop.status === 'skipped' || hop.status === 'not_run' ? '-' : milliseconds(hop.duration_ms);
    lines.push(`${section}`);
    lines.push(
      `  ${hop.id.padEnd(widest)}  ${paint(hop.status, marks[hop.status].padEnd(8))}${time.padEnd(8)}${clip(hop.summary, Math.max(40, options.width - left))}`,
    );
    if (hop.status === 'fail') lines.push(...detail(system, hop).map((line) => `    ${line}`));
  }
  return `${[...lines, '', ...classification(system, report, options.width)].join('\n')}\n`;
}

function heading(report: PreflightReport): string {
  const { subject, environment } = report;
  const parts = [
    'preflight',
    ...Object.entries(subject).map(([name, id]) => id && `${name.replace(/_id$/, '')} ${id}`),
    environment.profile && `env ${environment.profile}`,
    `corr ${report.correlation_id}`,
    report.started_at,
    milliseconds(report.duration_ms),
  ];
  return parts.filter(Boolean).join('  ');
}

function detail(system: AnySystem, hop: HopReport): string[] {
  const signal = hop.signal ? system.signals[hop.signal] : undefined;
  const meaning = hop.cause ? system.causes[hop.cause] : undefined;
  const lines = [
    `signal ${hop.signal ?? '-'}   cause ${hop.cause ?? '-'}${hop.confidence ? `   confidence ${hop.confidence}` : ''}`,
  ];
  if (meaning) lines.push(`       ${meaning}`);
  if (hop.explained_by) lines.push(`explained by ${hop.explained_by}`);
  else if (signal) {
    const { owner, next, command } = adviceOn(signal, hop.cause);
    lines.push(
      ...hop.confidence_because.map((why) => `unsure ${why}`),
      `owner  ${owner}`,
      `next   ${hop.hint ?? next}${command ? `   (${command})` : ''}`,
    );
  }
  return lines;
}

function classification(system: AnySystem, report: PreflightReport, width: number): string[] {
  const lines = ['final classification and recommended owner'];
  const missing = missingWords(system, report.hops);
  if (report.result === 'failed') {
    lines.push(
      `  RESULT failed  hop=${report.hop}  signal=${report.signal}  cause=${report.cause}  confidence=${report.confidence}  owner=${report.owner}`,
    );
    if (report.also_failing.length > 0)
      lines.push(
        `  also failing  ${report.also_failing.map((one) => `${one.hop} (${one.signal})`).join(', ')}`,
      );
    const out = report.ruled_out.map((one) => one.what).join(', ');
    if (out !== '') lines.push(`  ruled out     ${clip(out, width - 16)}`);
    if (missing !== null) lines.push(`  partial       ${missing}`);
  } else lines.push(`  RESULT ${report.result}${missing === null ? '' : ` (partial: ${missing})`}`);
  for (const reason of report.inconclusive_because) lines.push(`  because       ${reason}`);
  if (report.user_state)
    lines.push(
      `  user          ${report.user_state}${report.user_access ? `, access ${report.user_access}` : ''}`,
    );
  if (report.proof) lines.push(`  proof         ${report.proof}`);
  if (report.error) lines.push(`  error         ${report.error.code}: ${report.error.message}`);
  return lines;
}

/** `--explain`: what would be asked, without asking, for machines. */
export function explanationOf(system: AnySystem): PreflightExplanation {
  const hops = system.hops.map((hop) => ({
    id: hop.id,
    order: hop.order,
    title: hop.title,
    section: hop.section,
    asked_from: hop.vantage,
    side: hop.side === true,
    optional: hop.optional === true,
    explained_by: hop.explainedBy.map((by) =>
      typeof by === 'string'
        ? { hop: by, when_blames: null }
        : { hop: by.hop, when_blames: by.whenBlames },
    ),
    signals: hop.signals.flatMap((name) => {
      const signal = system.signals[name];
      return signal === undefined
        ? []
        : [
            {
              name,
              severity: signal.severity,
              owner: signal.owner,
              next: signal.next,
              causes: [...signal.causes],
            },
          ];
    }),
  }));
  return { system: system.name, hops };
}

/** The same as `explanationOf`, for people. */
export function renderExplanation(system: AnySystem): string {
  const blocks = system.hops.map((hop) => {
    const explained = hop.explainedBy.map((by) =>
      typeof by === 'string' ? by : `${by.hop} (when it blames ${by.whenBlames})`,
    );
    const lines = [
      `${hop.order}. ${hop.id}${hop.side ? ' (side hop)' : ''}: ${hop.title}`,
      `   section      ${hop.section}`,
      `   asked from   ${hop.vantage}`,
      `   explained by ${explained.join(', ') || '-'}`,
    ];
    const signals = hop.signals.flatMap((name) => {
      const signal = system.signals[name];
      return signal
        ? [
            `   signal       ${name}${signal.ours ? ' (ours)' : ''} [${signal.severity}] owner: ${signal.owner}`,
            `                next: ${signal.next}`,
            `                causes: ${signal.causes.join(', ')}`,
          ]
        : [];
    });
    return [...lines, ...signals].join('\n');
  });
  return `${blocks.join('\n\n')}\n`;
}
