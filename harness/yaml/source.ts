import { isMap, isPair, isScalar, LineCounter, type Node, parseDocument, visit } from 'yaml';
import type { Position } from '../records/scenario.ts';

/** A YAML text with the place of every key and value. */
export interface Source {
  readonly value: unknown;
  readonly syntax: readonly { readonly position: Position; readonly message: string }[];
  /** Where the value at a path stands; the nearest parent's when it is missing. */
  position(path: readonly (string | number)[], key?: boolean): Position;
  positions(): Record<string, Position>;
}

export function readSource(text: string): Source {
  const lines = new LineCounter();
  const doc = parseDocument(text, { lineCounter: lines, prettyErrors: false });
  const place = (offset: number): Position => {
    const { line, col } = lines.linePos(offset);
    return { line, column: col };
  };
  const start = (node: unknown): number | undefined => (node as Node | null)?.range?.[0];

  const keyOffset = (path: readonly (string | number)[]): number | undefined => {
    const parent = path.length === 1 ? doc.contents : doc.getIn(path.slice(0, -1), true);
    if (!isMap(parent)) return undefined;
    const pair = parent.items.find((item) => isScalar(item.key) && item.key.value === path.at(-1));
    return pair === undefined ? undefined : start(pair.key);
  };
  const position = (path: readonly (string | number)[], key = false): Position => {
    for (let length = path.length; length > 0; length -= 1) {
      const part = path.slice(0, length);
      const whole = length === path.length;
      const value = doc.getIn(part, true);
      const offset =
        whole && !key ? (start(value) ?? keyOffset(part)) : (keyOffset(part) ?? start(value));
      if (offset !== undefined) return place(offset);
    }
    return { line: 1, column: 1 };
  };
  const positions = (): Record<string, Position> => {
    const found: Record<string, Position> = {};
    visit(doc, {
      Node: (key, node, ancestors) => {
        if (key === 'key') return;
        const path = pathOf(key, ancestors);
        const offset = start(node);
        if (path !== undefined && offset !== undefined) found[path] = place(offset);
      },
    });
    return found;
  };
  const syntax = doc.errors.map((error) => ({
    position: place(error.pos[0]),
    message: error.message,
  }));
  return { value: syntax.length === 0 ? doc.toJS() : undefined, syntax, position, positions };
}

/** `expect.hop`, `faults.0.link.cut`: the keys from the root down to one visited node. */
function pathOf(
  key: number | 'key' | 'value' | null,
  ancestors: readonly unknown[],
): string | undefined {
  const keys: string[] = [];
  for (const [index, ancestor] of ancestors.entries()) {
    if (isPair(ancestor))
      keys.push(String(isScalar(ancestor.key) ? ancestor.key.value : ancestor.key));
    const next = ancestors[index + 1];
    const items = (ancestor as { items?: unknown[] }).items;
    if (Array.isArray(items) && !isMap(ancestor)) {
      keys.push(String(next === undefined ? key : items.indexOf(next)));
    }
  }
  return keys.length === 0 ? undefined : keys.join('.');
}
