import { flagMistakes } from '../systems/flag-mistakes.ts';
import { loadSystem, systemNames } from '../systems/index.ts';
import { catalogue } from './catalogue.ts';
import type { SystemWords, Vocabulary } from './vocabulary.ts';

/**
 * The vocabulary of this build: every system with its faults, and the ids of the catalogue.
 */
let built: Promise<Vocabulary> | undefined;

export function vocabulary(): Promise<Vocabulary> {
  built ??= build();
  return built;
}

async function build(): Promise<Vocabulary> {
  const systemWords: Record<string, SystemWords> = {};
  for (const name of systemNames()) {
    const system = await loadSystem(name);
    systemWords[name] = {
      faults: Object.fromEntries(system.faults.map((fault) => [fault.name, fault])),
      hops: Object.fromEntries(system.hops.map((hop) => [hop.id, hop.signals])),
      signals: Object.fromEntries(
        Object.entries(system.signals).map(([signal, row]) => [signal, row.causes]),
      ),
      repairs: Object.keys(system.repairs),
      proofs: ['preflight-green', ...Object.keys(system.proofs)],
      invariants: Object.fromEntries(
        Object.entries(system.invariants).map(([name, rule]) => [name, rule.texts]),
      ),
      evidence: Object.values(system.evidence).flatMap((source) => source.texts ?? []),
      ...system.names,
      words: system.words,
      flagMistakes: (argv) => flagMistakes(system, argv),
    };
  }
  return { systems: systemWords, catalogue: catalogue() };
}
