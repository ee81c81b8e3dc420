// npm run check: format and lint, typed lint, types, dead exports, import rule, words of the core. One
// line each; the words of a tool only when it fails.
import { child, type Ended } from './child.ts';

interface Tool {
  readonly name: string;
  readonly command: readonly [string, ...string[]];
}

const tools: readonly Tool[] = [
  { name: 'typed lint (eslint)', command: ['eslint', '.', '--max-warnings', '0'] },
  { name: 'types (tsc)', command: ['tsc', '--noEmit'] },
  { name: 'dead exports (knip)', command: ['knip'] },
  {
    name: 'format and lint (biome)',
    command: ['biome', 'check', '--error-on-warnings', '--diagnostic-level=warn', '.'],
  },
  { name: 'import rule', command: ['node', 'tools/import-rule.ts'] },
  { name: 'words of the core', command: ['node', 'tools/core-words.ts'] },
];

/** One for each core of a small machine; more would only make them wait for each other. */
const atOnce = 2;

function report(tool: Tool, { code, seconds, output }: Ended): void {
  process.stdout.write(
    `${code === 0 ? 'ok    ' : 'FAILED'}  ${tool.name.padEnd(26)} ${seconds.toFixed(1)} s\n`,
  );
  if (code !== 0) process.stdout.write(`${output.trimEnd()}\n`);
}

export async function check(): Promise<{ passed: number; failed: number }> {
  const waiting = [...tools];
  let failed = 0;
  const work = async () => {
    for (let tool = waiting.shift(); tool; tool = waiting.shift()) {
      const [command, ...args] = tool.command;
      const ended = await child(command, args, { keep: true });
      if (ended.code !== 0) failed += 1;
      report(tool, ended);
    }
  };
  await Promise.all(Array.from({ length: atOnce }, work));
  return { passed: tools.length - failed, failed };
}

if (import.meta.main) {
  const { failed } = await check();
  process.exitCode = failed === 0 ? 0 : 1;
}
