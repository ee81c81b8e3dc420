import { nearest } from '../base/nearest.ts';

/**
 * One mistake in a scenario file. `path` is where it stands; `key: true` points at the key instead
 * of its value.
 */
export interface Mistake {
  readonly path: readonly (string | number)[];
  readonly key?: boolean;
  readonly found: string;
  readonly allowed: string;
  readonly nearest?: string | undefined;
}

/** Long vocabularies are cut: the nearest spelling says more than forty names. */
const shown = 12;

export function unknownName(
  what: string,
  found: string,
  allowed: readonly string[],
  path: readonly (string | number)[],
  key = false,
): Mistake {
  return {
    path,
    key,
    found: `${what} ${quote(found)}`,
    allowed: list(allowed),
    nearest: nearest(found, allowed),
  };
}

export function list(names: readonly string[]): string {
  if (names.length === 0) return 'none';
  const sorted = [...names];
  return sorted.length <= shown
    ? sorted.join(', ')
    : `${sorted.slice(0, shown).join(', ')} and ${sorted.length - shown} more`;
}

export function quote(value: unknown): string {
  if (value === undefined) return 'nothing';
  if (typeof value === 'string') return `"${value}"`;
  const text = JSON.stringify(value) ?? String(value);
  return text.length > 60 ? `${text.slice(0, 57)}...` : text;
}

export function sentence(mistake: Mistake): string {
  const meant = mistake.nearest === undefined ? '' : `; did you mean "${mistake.nearest}"`;
  return `found ${mistake.found}; allowed: ${mistake.allowed}${meant}`;
}
