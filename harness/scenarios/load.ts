import { existsSync, globSync, readFileSync, statSync } from 'node:fs';
import { basename, relative, resolve } from 'node:path';
import {
  type Position,
  type Scenario,
  type ScenarioFile,
  scenarioFile,
} from '../records/scenario.ts';
import { mistakeLines, syntaxLines } from '../yaml/lines.ts';
import type { Mistake } from '../yaml/mistake.ts';
import { shapeMistakes } from '../yaml/shape.ts';
import { readSource } from '../yaml/source.ts';
import { nameMistakes } from './names.ts';
import { notYetFileName } from './not-yet.ts';
import type { Vocabulary } from './vocabulary.ts';

/**
 * Reads scenario files. All mistakes of all files come in one pass, each as `file:line:column:
 * found ...; allowed: ...`.
 */
export class ScenarioMistakes extends Error {
  readonly lines: readonly string[];
  constructor(lines: readonly string[]) {
    super(
      `${lines.length} mistake${lines.length === 1 ? '' : 's'} in scenario files\n${lines.join('\n')}`,
    );
    this.name = 'ScenarioMistakes';
    this.lines = lines;
  }
}

export interface Loaded {
  readonly scenarios: readonly Scenario[];
  readonly mistakes: readonly string[];
}

export function loadText(
  text: string,
  file: string,
  words: Vocabulary,
): { scenario?: Scenario; mistakes: string[] } {
  const source = readSource(text);
  const syntax = syntaxLines(file, source);
  if (syntax.length > 0) return { mistakes: syntax };
  const found: Mistake[] = [
    ...shapeMistakes(scenarioFile, source.value),
    ...nameMistakes(source.value, words),
  ];
  if (found.length > 0) return { mistakes: mistakeLines(file, source, found) };
  const record: ScenarioFile = scenarioFile.parse(source.value);
  return { scenario: { file, record, positions: source.positions() }, mistakes: [] };
}

/** All files at once, so that a name used twice is seen. */
export function loadFiles(
  files: readonly string[],
  words: Vocabulary,
  root = process.cwd(),
): Loaded {
  const scenarios: Scenario[] = [];
  const mistakes: string[] = [];
  const first = new Map<string, string>();
  for (const path of files) {
    const file = relative(root, resolve(root, path));
    const loaded = loadText(readFileSync(resolve(root, path), 'utf8'), file, words);
    mistakes.push(...loaded.mistakes);
    if (loaded.scenario === undefined) continue;
    const { record, positions } = loaded.scenario;
    const here = place(file, positions.scenario ?? { line: 1, column: 1 });
    const earlier = first.get(record.scenario);
    if (earlier === undefined) first.set(record.scenario, here);
    else
      mistakes.push(
        `${here}: found the scenario name "${record.scenario}" again; allowed: a name that no other file has (first at ${earlier})`,
      );
    scenarios.push(loaded.scenario);
  }
  return { scenarios, mistakes };
}

/**
 * Files that a word means: a path (from where one stands, or from the project), a folder, a glob, a
 * scenario's name, or a part of it.
 */
export function findFiles(patterns: readonly string[], root = process.cwd()): string[] {
  const all = scenarioFiles('scenarios/**/*.yaml', root);
  if (patterns.length === 0) return all.filter(isUsual);
  const found = patterns.flatMap((pattern) => {
    const meant = matching(pattern, all, root);
    return pattern.includes('canaries') ? meant : meant.filter(isUsual);
  });
  return [...new Set(found)];
}

/** A canary is made to fail: it runs when it is asked for by that word. */
const isUsual = (file: string): boolean => !file.includes('/canaries/');

/** A folder of scenarios also says what is not proved yet; that is no scenario. */
function scenarioFiles(glob: string, cwd: string): string[] {
  return globSync(glob, { cwd })
    .filter((file) => file.endsWith('.yaml') && basename(file) !== notYetFileName)
    .sort();
}

function matching(pattern: string, all: readonly string[], root: string): string[] {
  const path = [resolve(pattern), resolve(root, pattern)].find((file) => existsSync(file));
  if (path !== undefined) {
    const found = statSync(path).isDirectory()
      ? scenarioFiles('**/*.yaml', path).map((file) => resolve(path, file))
      : [path];
    return found.map((file) => relative(root, file));
  }
  const globbed = /[*?{[]/.test(pattern)
    ? scenarioFiles(
        pattern.includes('/') && pattern.startsWith('scenarios')
          ? pattern
          : `scenarios/**/${pattern}*`,
        root,
      )
    : [];
  if (globbed.length > 0) return globbed;
  const exact = all.filter((file) => file.endsWith(`/${pattern}.yaml`));
  return exact.length > 0 ? exact : all.filter((file) => file.includes(pattern));
}

function place(file: string, position: Position): string {
  return `${file}:${position.line}:${position.column}`;
}
