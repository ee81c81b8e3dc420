// The core knows no system: no identifier and no literal of it is a compound word of a system's
// declaration, or one of its proper nouns. `npm run check` and a unit test both read this.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';
import { genericFaults } from '../harness/faults/index.ts';
import { readStackFile } from '../harness/stack/read-declaration.ts';
import { askedSystem, loadSystem, stackFileOf, systemNames } from '../harness/systems/index.ts';

const root = fileURLToPath(new URL('..', import.meta.url)).replace(/\/$/, '');

export interface Word {
  readonly word: string;
  /** `signals of one-hop`. */
  readonly of: string;
}

const isCompound = (word: string): boolean => /^[a-z0-9]+([_./-][a-z0-9]+)+$/i.test(word);

/** Everything that a system gives a name of its own. */
export async function wordsOf(name: string): Promise<Word[]> {
  const [asked, whole] = await Promise.all([askedSystem(name), loadSystem(name)]);
  const generic = new Set(genericFaults.map(({ name }) => name));
  const { properNouns = [], ...words } = asked.words;
  const lists: Readonly<Record<string, readonly string[]>> = {
    name: [name],
    hops: asked.hops.map(({ id }) => id),
    flags: asked.flags.map((flag) => flag.name),
    signals: Object.keys(asked.signals),
    causes: Object.keys(asked.causes),
    resources: Object.keys(asked.resources).map((of) => of.slice(of.indexOf(':') + 1)),
    names: Object.values(asked.names).flat(),
    words: Object.values(words).flat(),
    views: Object.keys(whole.views),
    proofs: Object.keys(whole.proofs),
    'must-nots': Object.keys(whole.invariants),
    evidence: Object.keys(whole.evidence),
    repairs: Object.keys(whole.repairs),
    faults: whole.faults.map((fault) => fault.name).filter((fault) => !generic.has(fault)),
    stack: await wordsOfStack(name),
  };
  const compound = Object.entries(lists).flatMap(([list, all]) =>
    all.filter(isCompound).map((word) => ({ word, of: `${list} of ${name}` })),
  );
  return [...compound, ...properNouns.map((word) => ({ word, of: `proper nouns of ${name}` }))];
}

async function wordsOfStack(name: string): Promise<string[]> {
  const file = await stackFileOf(name);
  if (file === null) return [];
  const { networks, ports, policies, options, images } = readStackFile(file);
  return [networks, ports, policies?.sets ?? {}, options, images].flatMap(Object.keys);
}

/** Proper nouns are found in the middle of a name as well, whatever their case: `ConsoleOfACME`. */
function patternOf({ word, of }: Word): RegExp {
  const text = word.replace(/[.]/g, '\\.');
  if (of.startsWith('proper nouns')) return new RegExp(text, 'i');
  return new RegExp(`(?<![a-z0-9_]|[a-z0-9]-)${text}(?![a-z0-9_-])`, 'i');
}

/** Every place of one file that says one of the words. */
export function mentions(file: string, source: string, words: readonly Word[]): string[] {
  const tree = ts.createSourceFile(file, source, ts.ScriptTarget.Latest, true);
  const known = words.map((word) => ({ ...word, pattern: patternOf(word) }));
  const found: string[] = [];
  const look = (node: ts.Node): void => {
    for (const text of textsOf(node))
      for (const { word, of, pattern } of known)
        if (pattern.test(text)) {
          const { line } = tree.getLineAndCharacterOfPosition(node.getStart());
          found.push(`${file}:${line + 1}: ${word} (${of})`);
        }
    ts.forEachChild(node, look);
  };
  ts.forEachChild(tree, look);
  return found;
}

/** Whom a file imports is the matter of the import rule. */
function textsOf(node: ts.Node): string[] {
  if (ts.isImportDeclaration(node.parent) || ts.isExportDeclaration(node.parent)) return [];
  const isText =
    ts.isIdentifier(node) ||
    ts.isPrivateIdentifier(node) ||
    ts.isLiteralExpression(node) ||
    ts.isTemplateHead(node) ||
    ts.isTemplateMiddleOrTemplateTail(node);
  return isText ? [node.text] : [];
}

/** The core: what lies in harness/ and reports/ outside the folders of systems. */
export function coreFiles(): string[] {
  return ['harness', 'reports']
    .flatMap((folder) =>
      readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' }).map((file) =>
        join(folder, file),
      ),
    )
    .filter((file) => file.endsWith('.ts') && !/^harness\/systems\/[^/]+\//.test(file))
    .sort();
}

export async function mentionsInCore(): Promise<string[]> {
  const words = (await Promise.all(systemNames().map(wordsOf))).flat();
  return coreFiles().flatMap((file) =>
    mentions(file, readFileSync(join(root, file), 'utf8'), words),
  );
}

if (import.meta.main) {
  const found = await mentionsInCore();
  for (const line of found) process.stdout.write(`${line}\n`);
  process.exitCode = found.length === 0 ? 0 : 1;
}
