import type { FaultDefinition, TargetKind } from './define.ts';

/** Where a sweep looks for files of runs whose ledger nobody has. */
export function markPlacesOf(faults: readonly FaultDefinition[]) {
  const on = (kind: TargetKind): string[] =>
    faults.flatMap(({ targetKind, marks = [] }) =>
      targetKind.split(' or ').includes(kind) ? marks : [],
    );
  return { node: on('node'), part: on('part') };
}
