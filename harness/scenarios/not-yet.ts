import { z } from 'zod';
import { mistakeLines, syntaxLines } from '../yaml/lines.ts';
import { type Mistake, unknownName } from '../yaml/mistake.ts';
import { shapeMistakes } from '../yaml/shape.ts';
import { readSource } from '../yaml/source.ts';

/**
 * `scenarios/<system>/not-yet.yaml`: the situations of the catalogue that no scenario proves, each
 * by its id or its domain, with the reason.
 */
export const notYetFileName = 'not-yet.yaml';

const reasons = z.record(z.string(), z.string().min(1)).default({});
const notYetFile = z.strictObject({ domains: reasons, ids: reasons });
export type NotYet = z.infer<typeof notYetFile>;

/** What the catalogue knows of one system. */
interface Known {
  readonly id: string;
  readonly domain: string;
  /** Scenarios that prove it. */
  readonly scenarios: readonly string[];
}

export function loadNotYet(
  text: string,
  file: string,
  known: readonly Known[],
): { notYet: NotYet; mistakes: string[] } {
  const none: NotYet = { domains: {}, ids: {} };
  const source = readSource(text);
  const syntax = syntaxLines(file, source);
  if (syntax.length > 0) return { notYet: none, mistakes: syntax };
  // A file of comments alone is an empty one.
  const parsed = notYetFile.safeParse(source.value ?? {});
  const found = parsed.success
    ? wrongNames(parsed.data, known)
    : shapeMistakes(notYetFile, source.value);
  return { notYet: parsed.data ?? none, mistakes: mistakeLines(file, source, found) };
}

function wrongNames({ domains, ids }: NotYet, known: readonly Known[]): Mistake[] {
  const mistakes: Mistake[] = [];
  const allDomains = [...new Set(known.map(({ domain }) => domain))];
  for (const domain of Object.keys(domains)) {
    const path = ['domains', domain];
    const open = known.filter((one) => one.domain === domain && one.scenarios.length === 0);
    if (!allDomains.includes(domain))
      mistakes.push(unknownName('domain', domain, allDomains, path, true));
    else if (open.length === 0)
      mistakes.push(proved(path, `domain "${domain}", whose situations all have scenarios`));
  }
  for (const id of Object.keys(ids)) {
    const path = ['ids', id];
    const one = known.find((situation) => situation.id === id);
    const all = known.map((situation) => situation.id);
    if (one === undefined) mistakes.push(unknownName('catalogue id', id, all, path, true));
    else if (one.scenarios.length > 0)
      mistakes.push(proved(path, `id "${id}", which ${one.scenarios.join(', ')} proves`));
  }
  return mistakes;
}

const proved = (path: readonly string[], found: string): Mistake => ({
  ...{ path, key: true, found },
  allowed: 'what no scenario proves',
});
