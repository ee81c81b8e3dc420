import { type Mistake, sentence } from './mistake.ts';
import type { Source } from './source.ts';

interface Place {
  readonly line: number;
  readonly column: number;
}

const place = (file: string, { line, column }: Place): string => `${file}:${line}:${column}`;

/** What keeps the file from being read at all; the parser often says two things about one line. */
export const syntaxLines = (file: string, { syntax }: Source): string[] =>
  syntax
    .filter(
      ({ position }, index) =>
        syntax.findIndex((other) => other.position.line === position.line) === index,
    )
    .map(({ position, message }) => `${place(file, position)}: YAML: ${message.split('\n')[0]}`);

/** Every mistake as `file:line:column: found ...; allowed: ...`, from the top of the file. */
export const mistakeLines = (
  file: string,
  source: Source,
  mistakes: readonly Mistake[],
  /** Begins each with where it stands in the file's own words. */
  options: { readonly withPath: boolean } = { withPath: false },
): string[] =>
  mistakes
    .map((mistake) => ({
      position: source.position(mistake.path, mistake.key),
      text: `${options.withPath ? `${mistake.path.join('.') || 'the file'}: ` : ''}${sentence(mistake)}`,
    }))
    .toSorted((a, b) => a.position.line - b.position.line || a.position.column - b.position.column)
    .map(({ position, text }) => `${place(file, position)}: ${text}`);
