import { globSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

/** The failure situations found in the seeds: what each demands is asked by its id. */
export interface Situation {
  readonly id: string;
  readonly system?: string;
  readonly domain?: string;
  readonly title?: string;
  readonly evidence?: readonly string[] | null;
  readonly must_not?: readonly string[] | null;
  readonly [field: string]: unknown;
}

/** One thing that a situation demands, with the place of its id in the file that proves it. */
export interface Demand {
  readonly kind: 'evidence' | 'must_not';
  readonly text: string;
  readonly path: string;
}

export function demandsOf(
  source: readonly string[],
  situations: ReadonlyMap<string, Situation>,
): Demand[] {
  return source.flatMap((id, index) =>
    (['evidence', 'must_not'] as const).flatMap((kind) =>
      (situations.get(id)?.[kind] ?? []).map((text) => ({ kind, text, path: `source.${index}` })),
    ),
  );
}

const root = resolve(import.meta.dirname, '../..');
let read: ReadonlyMap<string, Situation> | undefined;

/** Of every system whose folder has one. */
export function catalogue(): ReadonlyMap<string, Situation> {
  read ??= new Map(
    globSync('scenarios/*/catalogue.json', { cwd: root })
      .sort()
      .flatMap((file) => JSON.parse(readFileSync(join(root, file), 'utf8')) as Situation[])
      .map((entry) => [entry.id, entry]),
  );
  return read;
}
