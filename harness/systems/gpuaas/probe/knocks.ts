// Loss as the kernel shows it: how many of several new connections came about at the first try.
import type { Facts } from './visit.ts';

/** New connections that came about at the first try, of those that were made. */
export interface Knocks {
  readonly answered: number;
  readonly made: number;
}

export function knocksIn(facts: Facts | undefined): Knocks | null {
  const [answered, made] = (facts?.knocks ?? '').split('/').map(Number);
  return answered === undefined || made === undefined || !(made > 0) ? null : { answered, made };
}

/** None at all is no loss: the way is closed. */
export const losesPackets = (knocks: Knocks | null): knocks is Knocks =>
  knocks !== null && knocks.answered > 0 && knocks.answered < knocks.made;
