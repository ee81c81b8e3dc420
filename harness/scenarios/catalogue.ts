import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';

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

let read: ReadonlyMap<string, Situation> | undefined;

export function catalogue(): ReadonlyMap<string, Situation> {
  if (read !== undefined) return read;
  const text = readFileSync(resolve(import.meta.dirname, '../../scenarios/catalogue.json'), 'utf8');
  read = new Map((JSON.parse(text) as Situation[]).map((entry) => [entry.id, entry]));
  return read;
}
