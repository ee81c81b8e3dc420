import { resolve } from 'node:path';
import { nearest } from '../base/nearest.ts';
import type { Scenario } from '../records/scenario.ts';
import { severities } from '../records/severity.ts';
import { findFiles, loadFiles, ScenarioMistakes } from '../scenarios/load.ts';
import type { Vocabulary } from '../scenarios/vocabulary.ts';
import { vocabulary } from '../scenarios/words.ts';
import { WrongUsage } from './arguments.ts';

/** Which scenarios a command is about. Mistakes in any of their files end it, all of them named. */
export interface Selection {
  readonly patterns: readonly string[];
  readonly tags?: readonly string[];
  readonly severity?: string | undefined;
  readonly shuffle?: string | undefined;
  readonly repeat?: number;
  /** Without patterns: only the scenarios of this system, as no other one can run there. */
  readonly system?: string | undefined;
  /** The node that every scenario is about, whichever its file names. */
  readonly node?: string | undefined;
  /**
   * Nodes of the platform that is meant; a file may name them besides the usual ones of its system.
   */
  readonly nodes?: readonly string[];
}

export const root = resolve(import.meta.dirname, '../..');

export async function select(wanted: Selection): Promise<Scenario[]> {
  const files = findFiles(wanted.patterns, root);
  const nothing = wanted.patterns.filter((pattern) => findFiles([pattern], root).length === 0);
  if (files.length === 0 || nothing.length > 0) throw new WrongUsage(await nothingMatches(nothing));
  const { scenarios, mistakes } = loadFiles(files, withNodes(await vocabulary(), wanted), root);
  if (mistakes.length > 0) throw Object.assign(new ScenarioMistakes(mistakes), { exitCode: 64 });
  checkWords(wanted, scenarios);
  const ofSystem = scenarios.filter(
    ({ record }) =>
      wanted.patterns.length > 0 || (wanted.system ?? record.system) === record.system,
  );
  if (ofSystem.length === 0)
    throw new WrongUsage(
      `no scenario in scenarios/ is one of the system ${wanted.system}: name files or folders`,
    );
  const tagged = ofSystem.filter(({ record }) =>
    (wanted.tags ?? []).every((tag) => record.tags.includes(tag)),
  );
  const fitting = tagged.filter(
    ({ record }) => wanted.severity === undefined || record.severity === wanted.severity,
  );
  if (fitting.length === 0)
    throw new WrongUsage('no scenario has all of that ("hopdrill list" names them)');
  const placed = fitting.map((scenario) => onNode(scenario, wanted.node));
  const repeated = Array.from({ length: wanted.repeat ?? 1 }, () => placed).flat();
  return wanted.shuffle === undefined ? repeated : shuffled(repeated, wanted.shuffle);
}

function withNodes(words: Vocabulary, { system = '', nodes = [] }: Selection): Vocabulary {
  const known = words.systems[system];
  if (known === undefined) return words;
  const all = [...new Set([...known.nodes, ...nodes])];
  return { ...words, systems: { ...words.systems, [system]: { ...known, nodes: all } } };
}

const onNode = (scenario: Scenario, node: string | undefined): Scenario =>
  node === undefined ? scenario : { ...scenario, record: { ...scenario.record, target: { node } } };

/**
 * A severity or tag that nothing can have is a mistake; one that nothing here has besides the
 * others is an empty choice.
 */
function checkWords(wanted: Selection, scenarios: readonly Scenario[]): void {
  const tags = [...new Set(scenarios.flatMap(({ record }) => record.tags))].sort();
  const asked = [
    ...(wanted.severity === undefined ? [] : [['severity', wanted.severity, severities] as const]),
    ...(wanted.tags ?? []).map((tag) => ['tag', tag, tags] as const),
  ];
  const wrong = asked.filter(([, value, allowed]) => !allowed.some((one) => one === value));
  if (wrong.length === 0) return;
  throw new WrongUsage(
    wrong
      .map(
        ([name, value, allowed]) =>
          `found: --${name} ${value} | allowed: ${allowed.join(', ') || 'none'}`,
      )
      .join('\n'),
  );
}

async function nothingMatches(patterns: readonly string[]): Promise<string> {
  const wanted = patterns.join(' ') || 'scenarios/';
  const { scenarios } = loadFiles(findFiles([], root), await vocabulary(), root);
  const near = nearest(
    wanted,
    scenarios.map(({ record }) => record.scenario),
  );
  return `no scenario file matches ${wanted}${near === undefined ? '' : `; did you mean ${near}?`} ("hopdrill list" names them)`;
}

/** The same seed gives the same order on every machine. */
export function shuffled<T>(items: readonly T[], seed: string): T[] {
  const next = random(seed);
  const mixed = [...items];
  for (let i = mixed.length - 1; i > 0; i -= 1) {
    const j = Math.floor(next() * (i + 1));
    [mixed[i], mixed[j]] = [mixed[j] as T, mixed[i] as T];
  }
  return mixed;
}

function random(seed: string): () => number {
  let state = 2166136261;
  for (const sign of seed) state = Math.imul(state ^ sign.charCodeAt(0), 16777619);
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}
