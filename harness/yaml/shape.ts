import { z } from 'zod';
import { nearest } from '../base/nearest.ts';
import { list, type Mistake, quote } from './mistake.ts';

/**
 * Turns zod's issues about any schema into mistakes that say what was found and what is allowed.
 */
interface JsonSchema {
  readonly type?: string;
  readonly properties?: Record<string, JsonSchema>;
  readonly items?: JsonSchema;
  readonly anyOf?: readonly JsonSchema[];
  readonly oneOf?: readonly JsonSchema[];
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly additionalProperties?: JsonSchema | boolean;
}

export function shapeMistakes(
  schema: z.ZodType,
  value: unknown,
  prefix: readonly (string | number)[] = [],
): Mistake[] {
  const result = schema.safeParse(value);
  if (result.success) return [];
  const json = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' }) as JsonSchema;
  return result.error.issues.flatMap((issue) => oneIssue(issue, json, value, prefix));
}

function oneIssue(
  issue: z.core.$ZodIssue,
  json: JsonSchema,
  value: unknown,
  prefix: readonly (string | number)[],
): Mistake[] {
  const inner = issue.path.map((key) => (typeof key === 'symbol' ? String(key) : key));
  const path = [...prefix, ...inner];
  if (issue.code === 'unrecognized_keys') {
    const allowed = keysOf(schemaAt(json, inner));
    return issue.keys.map((key) => ({
      path: [...path, key],
      key: true,
      found: `unknown key "${key}"`,
      allowed: list(allowed),
      nearest: nearest(key, allowed),
    }));
  }
  const found = valueAt(value, inner);
  if (found === undefined && inner.length > 0) {
    return [
      {
        path: path.slice(0, -1),
        key: true,
        found: `no "${String(inner.at(-1))}"`,
        allowed: describe(schemaAt(json, inner), issue),
      },
    ];
  }
  const meant = alternativeMeant(issue, found);
  if (meant !== null)
    return meant.flatMap((one) => oneIssue(one, schemaAt(json, inner) ?? {}, found, path));
  const names = namesOf(schemaAt(json, inner));
  const near = typeof found === 'string' && names.length > 0 ? nearest(found, names) : undefined;
  return [
    { path, found: quote(found), allowed: describe(schemaAt(json, inner), issue), nearest: near },
  ];
}

/** Of any form that a map may have. */
const keysOf = (schema: JsonSchema | undefined): string[] => [
  ...new Set([
    ...Object.keys(schema?.properties ?? {}),
    ...(schema?.anyOf ?? schema?.oneOf ?? []).flatMap(keysOf),
  ]),
];

/** Of several forms that a map may have: the one that has the fewest mistakes, if one has. */
function alternativeMeant(issue: z.core.$ZodIssue, found: unknown): z.core.$ZodIssue[] | null {
  if (issue.code !== 'invalid_union' || typeof found !== 'object' || found === null) return null;
  const [first, second] = issue.errors
    .filter((one) => one.every(({ code, path }) => code !== 'invalid_type' || path.length > 0))
    .toSorted((a, b) => weightOf(a) - weightOf(b));
  if (first === undefined) return null;
  return second === undefined || weightOf(first) < weightOf(second) ? first : null;
}

/** Each unknown key is a mistake of its own. */
const weightOf = (issues: readonly z.core.$ZodIssue[]): number =>
  issues.reduce(
    (sum, issue) => sum + (issue.code === 'unrecognized_keys' ? issue.keys.length : 1),
    0,
  );

function describe(schema: JsonSchema | undefined, issue: z.core.$ZodIssue): string {
  if (issue.code === 'invalid_format' || issue.code === 'custom') return clean(issue.message);
  if (issue.code === 'invalid_union') {
    const nested = issue.errors
      .flat()
      .map((inner) =>
        inner.code === 'invalid_value' ? inner.values.join(', ') : clean(inner.message),
      );
    return [...new Set(nested)].join(', or ');
  }
  const names = namesOf(schema);
  if (names.length > 0) return list(names);
  if (issue.code === 'too_small' || issue.code === 'too_big')
    return rangeOf(schema) ?? clean(issue.message);
  if (issue.code === 'invalid_type')
    return `${article(issue.expected)}${rangeOf(schema) === undefined ? '' : ` ${rangeOf(schema)}`}`;
  return clean(issue.message);
}

function rangeOf(schema: JsonSchema | undefined): string | undefined {
  if (schema?.type !== 'number' && schema?.type !== 'integer') return undefined;
  const huge = Number.MAX_SAFE_INTEGER;
  const low =
    schema.minimum !== undefined && schema.minimum > -huge ? String(schema.minimum) : undefined;
  const high =
    schema.maximum !== undefined && schema.maximum < huge ? String(schema.maximum) : undefined;
  if (low === undefined && high === undefined) return undefined;
  return high === undefined ? `from ${low}` : `from ${low ?? 'any'} to ${high}`;
}

function article(type: string): string {
  const words: Record<string, string> = {
    string: 'a text',
    boolean: 'true or false',
    number: 'a number',
    int: 'a whole number',
    array: 'a list',
    object: 'a map',
    record: 'a map',
  };
  return words[type] ?? type;
}

function clean(message: string): string {
  return message.replace(/^Invalid (input|string): /, '').replace(/"/g, "'");
}

function namesOf(schema: JsonSchema | undefined): string[] {
  if (schema === undefined) return [];
  if (schema.enum !== undefined) return schema.enum.map(String);
  if (schema.const !== undefined) return [String(schema.const)];
  return [];
}

function schemaAt(schema: JsonSchema, path: readonly (string | number)[]): JsonSchema | undefined {
  let here: JsonSchema | undefined = schema;
  for (const key of path) {
    const choices: readonly JsonSchema[] =
      here?.anyOf ?? here?.oneOf ?? (here === undefined ? [] : [here]);
    here = choices.map((choice) => step(choice, key)).find((next) => next !== undefined);
  }
  return here;
}

function step(schema: JsonSchema, key: string | number): JsonSchema | undefined {
  if (typeof key === 'number') return schema.items;
  const property = schema.properties?.[key];
  if (property !== undefined) return property;
  return typeof schema.additionalProperties === 'object' ? schema.additionalProperties : undefined;
}

function valueAt(value: unknown, path: readonly (string | number)[]): unknown {
  let here: unknown = value;
  for (const key of path)
    here = (here as Record<string | number, unknown> | null | undefined)?.[key];
  return here;
}
