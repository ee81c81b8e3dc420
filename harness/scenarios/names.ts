import { nearest } from '../base/nearest.ts';
import { conflictOf, type NamedFault } from '../faults/conflicts.ts';
import { list, type Mistake, quote, unknownName } from '../yaml/mistake.ts';
import { shapeMistakes } from '../yaml/shape.ts';
import { demandsOf } from './catalogue.ts';
import type { SystemWords, Vocabulary } from './vocabulary.ts';

/**
 * Checks every name of a file against the vocabulary. Works on the raw value, so that a wrong shape
 * elsewhere hides nothing.
 */
type Raw = Readonly<Record<string, unknown>>;

export function nameMistakes(raw: unknown, words: Vocabulary): Mistake[] {
  const file = map(raw);
  const mistakes: Mistake[] = [];
  for (const [index, id] of texts(file.source)) {
    if (!words.catalogue.has(id))
      mistakes.push(
        unknownName('catalogue id', id, [...words.catalogue.keys()], ['source', index]),
      );
  }
  const system = typeof file.system === 'string' ? words.systems[file.system] : undefined;
  if (typeof file.system === 'string' && system === undefined) {
    mistakes.push(unknownName('system', file.system, Object.keys(words.systems), ['system']));
  }
  if (system === undefined) return mistakes;
  mistakes.push(
    ...faultMistakes(file, system),
    ...targetMistakes(file, system),
    ...expectMistakes(map(file.expect), system),
    ...flagMistakes(file.preflight, system),
    ...notCoveredMistakes(file, words, system),
  );
  for (const [index, name] of texts(file.repair)) {
    if (!system.repairs.includes(name))
      mistakes.push(unknownName('repair', name, system.repairs, ['repair', index]));
  }
  for (const [index, name] of texts(map(file.recover).proof)) {
    if (!system.proofs.includes(name))
      mistakes.push(unknownName('proof', name, system.proofs, ['recover', 'proof', index]));
  }
  return mistakes;
}

function faultMistakes(file: Raw, system: SystemWords): Mistake[] {
  const mistakes: Mistake[] = [];
  const seen: NamedFault[] = [];
  for (const [index, entry] of (Array.isArray(file.faults) ? file.faults : []).entries()) {
    const names = Object.keys(map(entry));
    if (names.length > 1) {
      mistakes.push({
        path: ['faults', index],
        found: `${names.length} faults in one entry`,
        allowed: 'one fault an entry, each with its own "-"',
      });
    }
    for (const name of names) {
      const path = ['faults', index, name];
      const params = map(map(entry)[name]);
      const fault = system.faults[name];
      if (fault === undefined) {
        mistakes.push(unknownName('fault', name, Object.keys(system.faults), path, true));
        continue;
      }
      mistakes.push(...shapeMistakes(fault.params, params, path));
      mistakes.push(...paramTargets(params, system, path));
      const because = seen
        .map((other) => conflictOf(system.faults, other, { name, params }))
        .find((reason) => reason !== undefined);
      if (because !== undefined)
        mistakes.push({
          path,
          key: true,
          found: `${name} beside ${seen.map((one) => one.name).join(', ')}`,
          allowed: `faults that can be combined: ${because}`,
        });
      seen.push({ name, params });
    }
  }
  return mistakes;
}

/**
 * Parameters that name a thing of the system, whatever the fault. `node` alone means the scenario's
 * own target.
 */
function paramTargets(
  params: Raw,
  system: SystemWords,
  path: readonly (string | number)[],
): Mistake[] {
  const mistakes: Mistake[] = [];
  const places = { node: system.nodes, part: system.parts, link: linksOf(system) } as const;
  for (const [key, allowed] of Object.entries(places)) {
    const found = params[key];
    if (typeof found === 'string' && !allowed.includes(found))
      mistakes.push(unknownName(key, found, allowed, [...path, key]));
  }
  const on = params.on;
  const anywhere = ['node', ...system.nodes, ...system.parts, ...system.links];
  if (typeof on === 'string' && !anywhere.includes(on))
    mistakes.push(unknownName('target', on, anywhere, [...path, 'on']));
  return mistakes;
}

/** `node.x` is the link x of the node that the scenario is about. */
function linksOf(system: SystemWords): string[] {
  const own = system.links.flatMap((link) =>
    system.nodes.flatMap((node) =>
      link.startsWith(`${node}.`) ? [`node${link.slice(node.length)}`] : [],
    ),
  );
  return [...new Set(own), ...system.links];
}

function targetMistakes(file: Raw, system: SystemWords): Mistake[] {
  const node = map(file.target).node;
  if (typeof node !== 'string' || system.nodes.includes(node)) return [];
  return [unknownName('target node', node, system.nodes, ['target', 'node'])];
}

function expectMistakes(expect: Raw, system: SystemWords): Mistake[] {
  const mistakes: Mistake[] = [];
  const hops = Object.keys(system.hops);
  const { hop, signal, cause } = expect;
  if (hop === 'none') mistakes.push(...greenMistakes(expect));
  else if (typeof hop === 'string') {
    if (!hops.includes(hop))
      mistakes.push(unknownName('hop', hop, [...hops, 'none'], ['expect', 'hop']));
    if (signal === undefined)
      mistakes.push({
        path: ['expect'],
        key: true,
        found: 'no "signal"',
        allowed: list(system.hops[hop] ?? Object.keys(system.signals)),
      });
    if (expect.result !== undefined && expect.result !== 'failed')
      mistakes.push({
        path: ['expect', 'result'],
        found: quote(expect.result),
        allowed: 'a result only with hop: none',
      });
  }
  if (typeof signal === 'string' && hop !== 'none')
    mistakes.push(...signalMistakes(hop, signal, system));
  if (typeof cause === 'string' && typeof signal === 'string') {
    const causes = system.signals[signal] ?? [];
    if (causes.length > 0 && !causes.includes(cause))
      mistakes.push(unknownName('cause', cause, causes, ['expect', 'cause']));
  }
  for (const [index, name] of texts(expect.also)) {
    if (!hops.includes(name))
      mistakes.push(unknownName('hop', name, hops, ['expect', 'also', index]));
  }
  for (const [index, name] of texts(expect.never)) {
    const known = Object.keys(system.invariants);
    if (!known.includes(name))
      mistakes.push(unknownName('invariant', name, known, ['expect', 'never', index]));
  }
  mistakes.push(...saidMistakes(expect, system));
  return mistakes;
}

/** Only what is demanded can be left out, and only what nothing shows. */
function notCoveredMistakes(file: Raw, words: Vocabulary, system: SystemWords): Mistake[] {
  const source = texts(file.source).map(([, id]) => id);
  const demanded = demandsOf(source, words.catalogue);
  const never = texts(map(file.expect).never).flatMap(([, name]) => system.invariants[name] ?? []);
  const entries: readonly unknown[] = Array.isArray(file.not_covered) ? file.not_covered : [];
  return entries.flatMap((entry, index) => {
    const { text } = map(entry);
    if (typeof text !== 'string') return [];
    const path = ['not_covered', index, 'text'];
    const kinds = demanded.filter((demand) => demand.text === text).map(({ kind }) => kind);
    if (kinds.length === 0)
      return [unknownName('text', text, [...new Set(demanded.map((demand) => demand.text))], path)];
    const shown = kinds.some((kind) =>
      (kind === 'evidence' ? system.evidence : never).includes(text),
    );
    if (!shown) return [];
    return [
      { path, found: `text ${quote(text)}, which is covered`, allowed: 'what nothing shows' },
    ];
  });
}

/** Words that the platform itself says; free where a system does not tell them. */
function saidMistakes(expect: Raw, { words }: SystemWords): Mistake[] {
  const unknown = (
    what: string,
    word: unknown,
    known: readonly string[] | undefined,
    path: readonly (string | number)[],
  ): Mistake[] =>
    typeof word === 'string' && known?.includes(word) === false
      ? [unknownName(what, word, known, path)]
      : [];
  const { state, page } = map(expect.user);
  const ofPage = ['expect', 'user', 'page', 'shows'];
  return [
    ...unknown('user state', state, words.userStates, ['expect', 'user', 'state']),
    ...unknown('page word', map(page).shows, words.page, ofPage),
    ...texts(expect.history).flatMap(([index, word]) =>
      unknown('history word', word, words.history, ['expect', 'history', index]),
    ),
  ];
}

/**
 * `found: ... | allowed: ... | nearest: ...` of the preflight's parser, at the word that it is
 * about.
 */
function flagMistakes(preflight: unknown, system: SystemWords): Mistake[] {
  const argv = texts(preflight);
  return system.flagMistakes(argv.map(([, word]) => word)).map((line) => {
    const [found = '', allowed = '', near] = line
      .split(' | ')
      .map((part) => part.replace(/^\w+: /, ''));
    const about = argv.find(
      ([, word]) => found.includes(word) || found.includes(word.split('=')[0] ?? word),
    );
    return {
      path: ['preflight', about?.[0] ?? 0],
      found,
      allowed: list(allowed.split(', ')),
      nearest: near,
    };
  });
}

function signalMistakes(hop: unknown, signal: string, system: SystemWords): Mistake[] {
  const all = Object.keys(system.signals);
  if (!all.includes(signal)) return [unknownName('signal', signal, all, ['expect', 'signal'])];
  const given = typeof hop === 'string' ? system.hops[hop] : undefined;
  if (given === undefined || given.includes(signal)) return [];
  return [
    {
      path: ['expect', 'signal'],
      found: `signal "${signal}", which ${String(hop)} cannot give`,
      allowed: list(given),
      nearest: nearest(signal, given),
    },
  ];
}

function greenMistakes(expect: Raw): Mistake[] {
  const mistakes: Mistake[] = [];
  if (expect.result === undefined)
    mistakes.push({
      path: ['expect'],
      key: true,
      found: 'no "result"',
      allowed: 'healthy, inconclusive with hop: none',
    });
  const user = map(expect.user);
  const unchanged =
    expect.result === 'healthy' &&
    texts(expect.history).length === 0 &&
    ['normal', undefined].includes(user.state as string | undefined) &&
    user.access !== 'error' &&
    user.page === undefined;
  if (unchanged)
    mistakes.push({
      path: ['expect'],
      key: true,
      found: 'nothing that is not so before the fault as well',
      allowed: 'with result: healthy also history, or a user who notices',
    });
  for (const key of ['signal', 'cause', 'confidence']) {
    if (expect[key] !== undefined)
      mistakes.push({
        path: ['expect', key],
        key: true,
        found: `"${key}" beside hop: none`,
        allowed: 'result and history',
      });
  }
  return mistakes;
}

function map(value: unknown): Raw {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Raw) : {};
}

function texts(value: unknown): (readonly [number, string])[] {
  if (!Array.isArray(value)) return [];
  return value.flatMap((entry, index) =>
    typeof entry === 'string' ? [[index, entry] as const] : [],
  );
}
