// The command table. Each command is a file of its own beside this one, imported only when it is
// asked for.
import { existsSync } from 'node:fs';
import { enableCompileCache } from 'node:module';
import { nearest } from '../base/nearest.ts';
import { lostOutput, outliveReaders } from './output.ts';
import { ignoreSignals, listenToSignals } from './signals.ts';

export interface Command {
  readonly summary: string;
  readonly help: string | (() => Promise<string>);
  run(argv: readonly string[]): Promise<number>;
}

const commands: Readonly<Record<string, () => Promise<Command>>> = {
  run: () => load('run'),
  list: () => load('list'),
  explain: () => load('explain'),
  plan: () => load('plan'),
  preflight: () => load('preflight'),
  stop: () => load('stop'),
  undo: () => load('undo'),
  up: () => load('up'),
  down: () => load('down'),
  doctor: () => load('doctor'),
  report: () => load('report'),
  status: () => load('status'),
  chaos: () => load('chaos'),
};

/** Wrong usage, as sysexits.h has it. */
const wrongUsage = 64;

const load = async (name: string): Promise<Command> =>
  (await import(/* @vite-ignore */ `./${name}.ts`)) as Command;

async function summaryOf(name: string): Promise<string> {
  try {
    return (await commands[name]!()).summary;
  } catch {
    return '(not in this build)';
  }
}

async function help(): Promise<string> {
  const width = Math.max(...Object.keys(commands).map((name) => name.length));
  const lines = await Promise.all(
    Object.keys(commands).map(async (name) => `  ${name.padEnd(width)}  ${await summaryOf(name)}`),
  );
  return `Usage: hopdrill <command> [options]\n\n${lines.join('\n')}\n
  --system PATH  beside any of them: a system of your own, a module whose default export is defineSystem({ ... });
                 hopdrill.config.ts in this folder may name them: export default { systems: ['./my-system.ts'] }\n
"hopdrill <command> --help" says more about one of them.\n`;
}

export async function main([name, ...argv]: readonly string[]): Promise<number> {
  if (name === undefined || name === '--help' || name === '-h' || name === 'help') {
    process[name === undefined ? 'stderr' : 'stdout'].write(await help());
    return name === undefined ? wrongUsage : 0;
  }
  const find = Object.hasOwn(commands, name) ? commands[name] : undefined;
  if (!find) {
    const near = nearest(name, Object.keys(commands));
    process.stderr.write(
      `hopdrill: no command ${name}${near ? `; did you mean ${near}?` : ''}\n"hopdrill --help" lists them.\n`,
    );
    return wrongUsage;
  }
  const command = await find();
  const words = await withSystems(argv);
  if (words.includes('--help') || words.includes('-h')) {
    const page = typeof command.help === 'string' ? command.help : await command.help();
    const { withRealNames } = await import('./examples.ts');
    process.stdout.write(await withRealNames(page));
    return 0;
  }
  return command.run(words);
}

/**
 * `--system` means the same to every command, so it is read once, here: a module of the user's own,
 * or the name of a known one.
 */
async function withSystems(argv: readonly string[]): Promise<readonly string[]> {
  const named: string[] = [];
  const rest: string[] = [];
  for (const [at, word] of argv.entries()) {
    if (argv[at - 1] === '--system') named.push(word);
    else if (word.startsWith('--system=')) named.push(word.slice('--system='.length));
    else if (word !== '--system') rest.push(word);
  }
  if (named.length > 0 || existsSync('hopdrill.config.ts'))
    await (await import('../systems/index.ts')).addSystems(named);
  return rest;
}

/** One line for a person; the whole of it for who asks. */
function describe(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const missing = (error as NodeJS.ErrnoException).code === 'ERR_MODULE_NOT_FOUND';
  if (process.env.HOPDRILL_DEBUG) return error.stack ?? error.message;
  if (missing) return `this build lacks a part of that command (${error.message})`;
  // What carries a code says itself what to do.
  if ((error as { exitCode?: number }).exitCode !== undefined) return error.message;
  return `${error.message} ("hopdrill doctor" looks at the machine; HOPDRILL_DEBUG=1 shows where it broke)`;
}

if (import.meta.main) {
  // Halves what a command costs before its first byte goes out; without a writable place it does
  // nothing.
  enableCompileCache();
  outliveReaders();
  listenToSignals();
  try {
    process.exitCode = await main(process.argv.slice(2));
  } catch (error) {
    process.stderr.write(`hopdrill: ${describe(error)}\n`);
    // An error of ours, and not a verdict.
    process.exitCode = (error as { exitCode?: number }).exitCode ?? 70;
  }
  ignoreSignals();
  process.once('exit', () => {
    const lost = lostOutput();
    if (lost === undefined) return;
    process.stderr.write(`hopdrill: not all could be written: ${lost}\n`);
    if (process.exitCode === 0) process.exitCode = 70;
  });
  // The command has ended; a connection that some failing path left open must not keep the process.
  setTimeout(() => process.exit(), 2000).unref();
}
