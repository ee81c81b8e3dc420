import { z } from 'zod';
import { type Scenario, scenarioFile } from './scenario.ts';

/**
 * What a scenario file expects, as a run stores it: with it the run is judged again years later,
 * without the file, the catalogue or the system.
 */
export const expectation = z.strictObject({
  /** `scenarios/SYSTEM/AREA/WHAT.yaml`. */
  file: z.string(),
  expect: scenarioFile.shape.expect,
  /** In the order of the file, since reasons point at a proof by its place. */
  proof: z.array(z.string()),
  /** Where a value stands in the file: `expect.hop` is at `12:8`. */
  positions: z.record(z.string(), z.string()),
  /** What the catalogue demands of the situations that the file proves, and what shows it. */
  demanded: z.array(
    z.strictObject({
      kind: z.enum(['evidence', 'must_not']),
      text: z.string(),
      path: z.string(),
      /** Evidence sources of the system, or must-nots that the file names. */
      sources: z.array(z.string()),
      /** Why the file leaves it out on purpose. */
      not_covered: z.string().nullable(),
    }),
  ),
  /** Whether every write to the platform's database has to be accounted for. */
  audit: z.enum(['watched', 'declared_unwatched', 'unwatched']),
});
export type Expectation = z.infer<typeof expectation>;

/** `file:line:column` of a value, else of the nearest one that holds it, else the file. */
export function placeOf({ file, positions }: Expectation, path: string): string {
  const keys = path.split('.');
  for (let length = keys.length; length > 0; length -= 1) {
    const position = positions[keys.slice(0, length).join('.')];
    if (position !== undefined) return `${file}:${position}`;
  }
  return file;
}

/** Of all places in the file those that a reason may point at. */
export function positionsOf({ positions }: Scenario): Record<string, string> {
  const named = /^(expect|recover|faults|repair|source)(\.|$)/;
  return Object.fromEntries(
    Object.entries(positions)
      .filter(([path]) => named.test(path))
      .map(([path, { line, column }]) => [path, `${line}:${column}`]),
  );
}
