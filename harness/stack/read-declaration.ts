// Reads the compose file of a platform, with every mistake of its `x-hopdrill` at once.
import { existsSync, readFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { mistakeLines, syntaxLines } from '../yaml/lines.ts';
import { list, type Mistake, quote, unknownName } from '../yaml/mistake.ts';
import { shapeMistakes } from '../yaml/shape.ts';
import { readSource } from '../yaml/source.ts';
import { type StackDeclaration, stackDeclaration } from './declaration.ts';
import { ownImages } from './images/own.ts';
import { wordsOf } from './template.ts';

export interface StackFile extends StackDeclaration {
  readonly composeFile: string;
  readonly folder: string;
  /** The parts that compose starts, each with its image as the file writes it. */
  readonly services: Readonly<Record<string, string>>;
}

export class StackMistakes extends Error {
  readonly exitCode = 64;
}

const place = 'x-hopdrill';

export function readStackFile(composeFile: string): StackFile {
  if (!existsSync(composeFile)) throw new StackMistakes(`no compose file ${composeFile}`);
  const source = readSource(readFileSync(composeFile, 'utf8'));
  const refuse = (lines: readonly string[]): never => {
    throw new StackMistakes(`a compose file with mistakes\n${lines.join('\n')}`);
  };
  const syntax = syntaxLines(composeFile, source);
  if (syntax.length > 0) refuse(syntax);
  const file = (source.value ?? {}) as Readonly<Record<string, unknown>>;
  const services = servicesOf(file.services);
  const read = stackDeclaration.safeParse(file[place]);
  const folder = dirname(resolve(composeFile));
  const mistakes = read.success
    ? contradictions(read.data, Object.keys(services), folder)
    : shapeMistakes(stackDeclaration, file[place], [place]);
  if (mistakes.length > 0) refuse(mistakeLines(composeFile, source, mistakes, { withPath: true }));
  return { ...stackDeclaration.parse(file[place]), composeFile, folder, services };
}

interface Service {
  readonly image?: string;
  /** Merged into it by YAML's own means. */
  readonly '<<'?: { readonly image?: string };
}

function servicesOf(services: unknown): Record<string, string> {
  const all = Object.entries((services ?? {}) as Readonly<Record<string, Service>>);
  return Object.fromEntries(
    all.map(([name, service]) => [name, service?.image ?? service?.['<<']?.image ?? '']),
  );
}

type Path = readonly (string | number)[];

function contradictions(
  declaration: StackDeclaration,
  services: readonly string[],
  folder: string,
): Mistake[] {
  const known = (what: string, name: string, allowed: readonly string[], path: Path): Mistake[] =>
    allowed.includes(name) ? [] : [unknownName(what, name, allowed, [place, ...path])];
  const there = (file: string, path: Path): Mistake[] =>
    existsSync(resolve(folder, file))
      ? []
      : [{ path: [place, ...path], found: quote(file), allowed: `a path from ${folder}` }];
  const { images, options, policies, fetch, ports, networks } = declaration;
  const optionNames = Object.keys(options);
  return [
    ...Object.entries(images).flatMap(([name, image], index) => [
      ...(image.option === undefined
        ? []
        : known('option', image.option, optionNames, ['images', name, 'option'])),
      ...('packages' in image
        ? []
        : [
            ...[image.dockerfile, image.context, ...image.inputs].flatMap((file) =>
              there(file, ['images', name]),
            ),
            ...Object.entries(image.from).flatMap(([argument, parent]) =>
              known(
                'image',
                parent,
                [...ownImages, ...Object.keys(images).slice(0, index)],
                ['images', name, 'from', argument],
              ),
            ),
          ]),
    ]),
    ...Object.entries(policies?.sets ?? {}).flatMap(([name, file]) =>
      there(file, ['policies', 'sets', name]),
    ),
    ...fetch.flatMap((one, index) => known('part', one.split(':')[0]!, services, ['fetch', index])),
    ...Object.entries(declaration['ssh-nodes']).flatMap(([node, port]) => [
      ...known('part', node, services, ['ssh-nodes', node]),
      ...known('port', port, Object.keys(ports), ['ssh-nodes', node]),
    ]),
    ...templateMistakes(declaration, {
      port: Object.keys(ports),
      network: Object.keys(networks),
      container: services,
    }),
  ];
}

function templateMistakes(
  { profile, options }: StackDeclaration,
  allowed: Readonly<Record<string, readonly string[]>>,
): Mistake[] {
  const all = [
    ...wordsOf(profile, [place, 'profile']),
    ...Object.entries(options).flatMap(([name, option]) => [
      ...wordsOf(option.with, [place, 'options', name, 'with']),
      ...wordsOf(option.without, [place, 'options', name, 'without']),
    ]),
  ];
  return all.flatMap(({ path, kind, name }) => {
    const names = allowed[kind];
    if (names === undefined)
      return [
        {
          path,
          found: `<${kind}.${name}>`,
          allowed: list(Object.keys(allowed).map((one) => `<${one}.NAME>`)),
        },
      ];
    return names.includes(name) ? [] : [unknownName(kind, name, names, path)];
  });
}
