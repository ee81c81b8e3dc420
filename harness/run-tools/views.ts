import { z } from 'zod';
import { messageOf } from '../base/message-of.ts';
import { withDeadline } from '../drivers/errors.ts';
import { type Judged, judgeItem, type Reading } from '../items/judge-item.ts';
import { type Item, type ItemBody, paramsOf, type Row } from '../records/item.ts';
import type { HookContext } from '../systems/hooks.ts';
import type { View } from '../systems/view.ts';

/** Two questions about one thing within this time get one answer. */
const freshMs = 1000;
/** Longer than any view of a platform that still answers takes. */
const readMs = 20_000;

interface How {
  /** No older reading will do. */
  readonly maxAgeMs?: number;
  /** What is known besides, e.g. the preflight that was judged; then nothing is shared. */
  readonly context?: HookContext;
}

export interface Views {
  has(name: string): boolean;
  /** The view that an item asks, with the parameters that it gives. */
  read(item: Item, how?: How): Promise<Reading>;
  judge(item: Item, before: Reading | null, how?: How): Promise<Judged>;
  /** What was read so far says nothing of what comes: something was put right in between. */
  forget(): void;
}

type Known = Readonly<Record<string, View>>;

export function openViews(views: Known, usual: () => HookContext): Views {
  const readings = new Map<string, { readonly at: number; readonly reading: Promise<Reading> }>();
  const read = (item: Item, { maxAgeMs = freshMs, context }: How = {}): Promise<Reading> => {
    const [name, body] = partsOf(item);
    const params = paramsOf(body);
    if (context !== undefined) return readOnce(views, name, params, context);
    const key = JSON.stringify([name, params]);
    const known = readings.get(key);
    const now = performance.now();
    if (known !== undefined && now - known.at < maxAgeMs) return known.reading;
    const reading = readOnce(views, name, params, usual());
    readings.set(key, { at: now, reading });
    return reading;
  };
  return {
    has: (name) => views[name] !== undefined,
    read,
    async judge(item, before, how) {
      const [, body] = partsOf(item);
      return judgeItem(body, await read(item, how), before);
    },
    forget: () => readings.clear(),
  };
}

function partsOf(item: Item): [string, ItemBody] {
  const [part] = Object.entries(item);
  if (part === undefined) throw new Error('an item names no view');
  return part;
}

/** A view that cannot be read, or that answers in another shape than its own, says so by its name. */
async function readOnce(
  views: Known,
  name: string,
  params: Readonly<Record<string, unknown>>,
  context: HookContext,
): Promise<Reading> {
  const view = views[name];
  if (view === undefined) throw new Error(`the system has no view ${name}`);
  try {
    const found = await withDeadline(
      'view',
      name,
      readMs,
      view.read(context, view.params.parse(params)),
    );
    return { rows: z.array(view.fields).parse(found) as Row[] };
  } catch (error) {
    const why = error instanceof z.ZodError ? shapeOf(error) : messageOf(error);
    throw new Error(`the view ${name} could not be read: ${why}`, { cause: error });
  }
}

const shapeOf = ({ issues }: z.ZodError): string =>
  `another shape (${issues.map(({ path, message }) => `${path.join('.') || 'it'}: ${message}`).join('; ')})`;
