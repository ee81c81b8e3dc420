import { readOptions } from './arguments.ts';

export const summary = 'say which stacks there are, and how they do';
export const help = `Usage: hopdrill status [--json]

Lists the stacks of hopdrill on this engine: up, starting, degraded (a part is not running) or leftover (take it down).

Examples:
  hopdrill status
  hopdrill status --json

Exit codes: 0 looked, 64 wrong usage, 70 the engine does not answer ("hopdrill doctor" says why).
`;

export async function run(argv: readonly string[]): Promise<number> {
  const { json } = readOptions('status', argv, { json: { type: 'boolean', default: false } });
  const { renderStatus, status } = await import('../stack/status.ts');
  const stacks = await status();
  process.stdout.write(json ? `${JSON.stringify({ stacks }, null, 2)}\n` : renderStatus(stacks));
  return 0;
}
