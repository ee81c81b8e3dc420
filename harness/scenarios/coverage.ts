import { existsSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import type { Scenario } from '../records/scenario.ts';
import type { Situation } from './catalogue.ts';
import { loadNotYet, notYetFileName } from './not-yet.ts';

/**
 * What becomes of each situation of the catalogue: scenarios prove it, or a reason says why not
 * yet, or nothing is said of it (`silent`), which is a failure.
 */
export interface SituationCovered {
  readonly id: string;
  readonly system: string;
  readonly domain: string;
  readonly status: 'proved' | 'not_yet' | 'silent';
  readonly scenarios: readonly string[];
  readonly why: string | null;
}

/** How often the scenarios expect a signal of a hop. */
export interface SignalCovered {
  readonly system: string;
  readonly hop: string;
  readonly signal: string;
  readonly scenarios: readonly string[];
}

export interface Coverage {
  readonly situations: readonly SituationCovered[];
  readonly signals: readonly SignalCovered[];
  /** In the files that say what is not proved yet. */
  readonly mistakes: readonly string[];
}

interface Hops {
  readonly hops: Readonly<Record<string, readonly string[]>>;
}

export function coverageOf(
  scenarios: readonly Scenario[],
  catalogue: ReadonlyMap<string, Situation>,
  systems: Readonly<Record<string, Hops>>,
  root: string,
): Coverage {
  const named = (fits: (scenario: Scenario['record']) => boolean): string[] =>
    scenarios.filter(({ record }) => fits(record)).map(({ record }) => record.scenario);
  const known = [...catalogue.values()].map(({ id, system = '', domain = '' }) => ({
    ...{ id, system, domain },
    scenarios: named(({ source }) => source.includes(id)),
  }));
  const mistakes: string[] = [];
  const situations = [...new Set(known.map(({ system }) => system))].flatMap((system) => {
    const own = known.filter((one) => one.system === system);
    const file = join(root, 'scenarios', system, notYetFileName);
    const text = existsSync(file) ? readFileSync(file, 'utf8') : '';
    const { notYet, mistakes: found } = loadNotYet(text, relative(root, file), own);
    mistakes.push(...found);
    return own.map((one): SituationCovered => {
      if (one.scenarios.length > 0) return { ...one, status: 'proved', why: null };
      const why = notYet.ids[one.id] ?? notYet.domains[one.domain] ?? null;
      return { ...one, status: why === null ? 'silent' : 'not_yet', why };
    });
  });
  const signals = Object.entries(systems).flatMap(([system, { hops }]) =>
    Object.entries(hops).flatMap(([hop, given]) =>
      given.map((signal) => ({
        ...{ system, hop, signal },
        scenarios: named(
          ({ system: of, expect }) =>
            of === system && expect.hop === hop && expect.signal === signal,
        ),
      })),
    ),
  );
  return { situations, signals, mistakes };
}
