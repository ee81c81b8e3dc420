import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';

/** The failure situations found in the seeds: what each demands is asked by its id. */
export interface Situation {
  readonly id: string;
  readonly evidence?: readonly string[] | null;
  readonly [field: string]: unknown;
}

let read: ReadonlyMap<string, Situation> | undefined;

export function catalogue(): ReadonlyMap<string, Situation> {
  if (read !== undefined) return read;
  const text = readFileSync(resolve(import.meta.dirname, '../../scenarios/catalogue.json'), 'utf8');
  read = new Map((JSON.parse(text) as Situation[]).map((entry) => [entry.id, entry]));
  return read;
}
