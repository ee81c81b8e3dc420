import type { Compatibility } from '../faults/conflicts.ts';
import type { FaultDefinition } from '../faults/define.ts';
import type { Words } from '../systems/define.ts';
import type { Situation } from './catalogue.ts';

/**
 * Every name that a scenario file may use. Built from the lists of faults and systems; the loader
 * knows no other source.
 */
export interface Vocabulary {
  readonly systems: Readonly<Record<string, SystemWords>>;
  readonly catalogue: ReadonlyMap<string, Situation>;
}

export type FaultWords = Compatibility & Pick<FaultDefinition, 'params'>;

export interface SystemWords {
  readonly faults: Readonly<Record<string, FaultWords>>;
  /** Hop to the signals that it can give. */
  readonly hops: Readonly<Record<string, readonly string[]>>;
  /** Signal to its causes; an empty list means that the causes are open. */
  readonly signals: Readonly<Record<string, readonly string[]>>;
  readonly repairs: readonly string[];
  readonly proofs: readonly string[];
  /** Must-nots, each with the texts of the catalogue that it stands for. */
  readonly invariants: Readonly<Record<string, readonly string[]>>;
  /** Texts of the catalogue that an evidence source shows. */
  readonly evidence: readonly string[];
  readonly nodes: readonly string[];
  readonly parts: readonly string[];
  readonly links: readonly string[];
  readonly words: Words;
  /** Mistakes in flags of the preflight, as its own parser tells them. */
  flagMistakes(argv: readonly string[]): readonly string[];
}
