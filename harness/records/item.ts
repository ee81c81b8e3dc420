import { z } from 'zod';

/** What a view of the platform tells: rows of plain values. */
export type Json =
  | string
  | number
  | boolean
  | null
  | readonly Json[]
  | { readonly [key: string]: Json };
export type Row = Readonly<Record<string, Json>>;

const plain = z.union([z.string(), z.number(), z.boolean(), z.null()]);
const bounds = z
  .strictObject({ min: z.number().optional(), max: z.number().optional() })
  .refine(({ min, max }) => min === undefined || max === undefined || min <= max, {
    error: 'min is not more than max',
  });

/** What one value must be: itself, or one of these words. */
export const comparator = z.union([
  plain,
  z.strictObject({ set: z.literal(true).describe('there is a value') }),
  z.strictObject({ absent: z.literal(true).describe('there is none') }),
  z.strictObject({ same: z.literal(true).describe('as at the baseline') }),
  z.strictObject({ changed: z.literal(true).describe('another one than at the baseline') }),
  z.strictObject({ rises: bounds.describe('by so much more than at the baseline') }),
  z.strictObject({ falls: bounds.describe('by so much less than at the baseline') }),
  z.strictObject({ min: z.number() }),
  z.strictObject({ max: z.number() }),
  z.strictObject({ min: z.number(), max: z.number() }),
  z.strictObject({ one_of: z.array(plain).min(1) }),
  z.strictObject({ equals: z.json().describe('for a value that looks like one of these words') }),
]);
export type Comparator = z.infer<typeof comparator>;

const fields = z
  .record(z.string(), comparator)
  .refine((map) => Object.keys(map).length > 0, { error: 'one field at least' });

/** The ways to expect something of a view, of which an item has exactly one. */
export const questions = ['is', 'each', 'rows', 'always'] as const;

/** What is left are parameters of the view, which the view itself checks. */
export const itemBody = z.looseObject({
  where: fields.optional(),
  is: fields.optional().describe('the one row is so'),
  each: fields.optional().describe('every row is so, and there is one at least'),
  rows: comparator.optional().describe('so many rows came'),
  always: fields.optional().describe('the one row is so each time that it is read'),
  within: z.string().optional(),
});
export type ItemBody = z.infer<typeof itemBody>;

const ownWords: readonly string[] = [...questions, 'where', 'within'];

/** What an item says to its view, besides what it expects of the answer. */
export const paramsOf = (body: ItemBody): Record<string, unknown> =>
  Object.fromEntries(Object.entries(body).filter(([key]) => !ownWords.includes(key)));

/** Every field of the view that it asks. */
export const fieldsOf = ({ where, is, each, always }: ItemBody): string[] =>
  [where, is, each, always].flatMap((fields) => Object.keys(fields ?? {}));

/** One expectation of what is to be seen of the platform: `{ view: body }`. */
export const item = z.record(z.string(), itemBody);
export type Item = z.infer<typeof item>;
