// The preflight as the tests use it: in this process, and as the command that a person starts.
import { execa } from 'execa';
import { parseArgv } from '../../../harness/preflight/argv.ts';
import { runPreflight } from '../../../harness/preflight/run.ts';
import type { Request } from '../../../harness/preflight/types.ts';
import { type PreflightReport, preflightReport } from '../../../harness/records/preflight.ts';
import { loadProfile } from '../../../harness/stack/state.ts';
import gpuaas from '../../../harness/systems/gpuaas/index.ts';
import { argvFromProfile } from '../../../harness/systems/gpuaas/profile-argv.ts';

export const hopdrill = new URL('../../../hopdrill', import.meta.url).pathname;

/** What a person would type for this node, and nothing that only a test knows. */
export const argvFor = (stack: string, node: string, ...more: string[]): string[] => [
  ...argvFromProfile(loadProfile(stack), node),
  ...more,
];

export function requestFor(argv: readonly string[]): Request {
  const parsed = parseArgv(gpuaas.asked, argv);
  if (!parsed.ok) throw new Error(parsed.errors.join('\n'));
  return parsed.request;
}

export const preflight = (argv: readonly string[]): Promise<PreflightReport> =>
  runPreflight(gpuaas.asked, requestFor(argv));

export const command = (argv: readonly string[], env: Record<string, string> = {}) =>
  execa(hopdrill, argv, { reject: false, stdin: 'ignore', env: { NO_COLOR: '1', ...env } });

/** As a new process; its stdout must be one document and nothing else. */
export async function asCommand(
  argv: readonly string[],
): Promise<{ report: PreflightReport; code: number; stderr: string }> {
  const { stdout, stderr, exitCode } = await command(['preflight', ...argv, '--json']);
  return { report: preflightReport.parse(JSON.parse(stdout)), code: exitCode ?? 255, stderr };
}

/**
 * Hops that are not plainly green, in words; `skipped` is right only for those that are asked for
 * on purpose.
 */
export function notGreen(report: PreflightReport): string[] {
  const optional = new Set(
    gpuaas.asked.hops.filter((hop) => hop.optional === true).map((hop) => hop.id),
  );
  return report.hops
    .filter(({ id, status }) => status !== 'pass' && !(status === 'skipped' && optional.has(id)))
    .map(
      ({ id, status, signal, cause, summary }) =>
        `${id} ${status} ${signal ?? ''} ${cause ?? ''}: ${summary}`,
    );
}
