// The words in angle brackets of a profile template: what only a stack that is being made knows.

export interface Fillings {
  readonly port: Readonly<Record<string, number>>;
  readonly network: Readonly<Record<string, string>>;
  readonly container: Readonly<Record<string, string>>;
}

const words = /<([a-z]+)\.([a-z0-9-]+)>/g;

export interface TemplateWord {
  readonly path: readonly (string | number)[];
  readonly kind: string;
  readonly name: string;
}

/** Every word of a template with its place, so that wrong ones can be told all at once. */
export function wordsOf(value: unknown, path: readonly (string | number)[] = []): TemplateWord[] {
  if (typeof value === 'string')
    return [...value.matchAll(words)].map(([, kind = '', name = '']) => ({ path, kind, name }));
  if (Array.isArray(value)) return value.flatMap((one, index) => wordsOf(one, [...path, index]));
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, one]) => wordsOf(one, [...path, key]));
}

/** A text that is one word alone becomes what the word stands for: a port is a number then. */
export function fill(value: unknown, fillings: Fillings): unknown {
  const meaning = (kind: string, name: string): unknown =>
    (fillings as unknown as Readonly<Record<string, Readonly<Record<string, unknown>>>>)[kind]?.[
      name
    ];
  if (typeof value === 'string') {
    const alone = new RegExp(`^${words.source}$`).exec(value);
    if (alone !== null) return meaning(alone[1]!, alone[2]!);
    return value.replace(words, (_, kind: string, name: string) => String(meaning(kind, name)));
  }
  if (Array.isArray(value)) return value.map((one) => fill(one, fillings));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, fill(one, fillings)]));
}

type Map = Readonly<Record<string, unknown>>;
const isMap = (value: unknown): value is Map =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Maps are joined key by key; of two other values the second one holds. */
export function joined(one: Map, other: Map): Map {
  const both = Object.entries(other).map(([key, value]) => {
    const first = one[key];
    return [key, isMap(first) && isMap(value) ? joined(first, value) : value];
  });
  return { ...one, ...Object.fromEntries(both) };
}
