// Options of a command, or the one line that says what is wrong with them and what to do.
import { existsSync, statSync } from 'node:fs';
import { resolve } from 'node:path';
import { type ParseArgsConfig, parseArgs } from 'node:util';
import { messageOf } from '../base/message-of.ts';
import { nearest } from '../base/nearest.ts';

type Options = NonNullable<ParseArgsConfig['options']>;

export class WrongUsage extends Error {
  readonly exitCode = 64;
}

/** Long options only, and no words besides. */
export function readOptions<T extends Options>(
  command: string,
  argv: readonly string[],
  options: T,
) {
  return read(command, argv, { options, allowPositionals: false }).values;
}

/** Long options, and words besides. */
export function readArguments<T extends Options>(
  command: string,
  argv: readonly string[],
  options: T,
) {
  return read(command, argv, { options, allowPositionals: true });
}

function read<T extends Options>(
  command: string,
  argv: readonly string[],
  how: { options: T; allowPositionals: boolean },
) {
  const args = withNegativeValues(argv, how.options);
  const unknown = unknownOption(args, Object.keys(how.options));
  try {
    if (unknown !== null) throw new Error(unknown);
    return parseArgs({ args, strict: true, ...how });
  } catch (error) {
    throw new WrongUsage(`${command}: ${messageOf(error)} ("hopdrill ${command} --help")`);
  }
}

/** `--keep -1` is a wrong value, to be called so by the command, and no option -1. */
function withNegativeValues(argv: readonly string[], options: Options): string[] {
  const takesValue = (word: string | undefined): boolean =>
    word?.startsWith('--') === true && options[word.slice(2)]?.type === 'string';
  const isNegative = (at: number): boolean =>
    /^-\d/.test(argv[at] ?? '') && takesValue(argv[at - 1]);
  return argv.flatMap((word, at) => {
    if (isNegative(at)) return [];
    return isNegative(at + 1) ? [`${word}=${argv[at + 1]}`] : [word];
  });
}

function unknownOption(argv: readonly string[], known: readonly string[]): string | null {
  const end = argv.indexOf('--');
  const word = argv
    .slice(0, end < 0 ? undefined : end)
    .find((one) => /^-./.test(one) && !known.includes(one.replace(/^--/, '').split('=')[0] ?? ''));
  if (word === undefined) return null;
  const name = word.split('=')[0] ?? word;
  const near = nearest(name.replace(/^-+/, ''), known);
  return `unknown option ${name}${near === undefined ? '' : `, did you mean --${near}?`} There are: ${known.map((one) => `--${one}`).join(', ')}`;
}

/** "Nothing is left" of a name that nobody knows would be true and mean nothing. */
export function mustBeKnown(flag: string, name: string, all: readonly string[]): void {
  const known = [...new Set(all)].sort();
  if (known.includes(name)) return;
  const near = nearest(name, known);
  throw new WrongUsage(
    `found: ${flag} ${name} | allowed: ${known.slice(-12).join(', ') || 'none is known'}${near === undefined ? '' : ` | nearest: ${near}`}`,
  );
}

/** Every mistake of a command line at once, each on a line of its own. */
export function refuse(command: string, mistakes: readonly string[]): void {
  if (mistakes.length > 0)
    throw new WrongUsage(`${command}: ${mistakes.join('\n')} ("hopdrill ${command} --help")`);
}

/** Where run folders go. An empty word would mean the folder that one stands in. */
export function outFolder(command: string, out: string): string {
  const taken = existsSync(out) && !statSync(out).isDirectory();
  if (out === '' || out.startsWith('-') || taken)
    throw new WrongUsage(`${command}: --out ${out}: a folder, or a name that is free`);
  return resolve(out);
}
