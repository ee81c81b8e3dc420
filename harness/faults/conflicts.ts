import type { FaultDefinition } from './define.ts';

export interface NamedFault {
  readonly name: string;
  readonly params: Readonly<Record<string, unknown>>;
}

/** What of a fault tells whether another one fits beside it. */
export type Compatibility = Pick<FaultDefinition, 'conflicts' | 'place' | 'targetParam'>;

/**
 * Why these two cannot be injected together, or undefined when they can: neither its effect nor its
 * undo could be told from those of the other.
 */
export function conflictOf(
  faults: Readonly<Record<string, Compatibility>>,
  first: NamedFault,
  second: NamedFault,
): string | undefined {
  const [one, other] = [faults[first.name], faults[second.name]];
  if (first.name === second.name && one !== undefined && isSamePlace(one, first, second))
    return 'the same fault on the same target twice';
  return one?.conflicts?.[second.name] ?? other?.conflicts?.[first.name];
}

const isSamePlace = (
  { place, targetParam }: Compatibility,
  first: NamedFault,
  second: NamedFault,
): boolean =>
  (place ?? [targetParam]).every(
    (key) => JSON.stringify(first.params[key]) === JSON.stringify(second.params[key]),
  );
