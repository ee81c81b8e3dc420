// Scenario files may expect words of the page; the list of them is kept beside the system, the
// words are the platform's own.
import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, test } from 'vitest';
import { FAILURES } from '../../../fixtures/gpuaas/gateway/frames.ts';
import { words } from '../../../harness/systems/gpuaas/names.ts';

const sources = resolve(import.meta.dirname, '../../../fixtures/gpuaas');
const sourcesOf = (part: string): string[] =>
  readdirSync(join(sources, part)).filter((file) => file.endsWith('.ts'));
/**
 * Where the gateway refuses a browser that speaks properly: the token, its binding, a gateway that
 * is full or leaves.
 */
const atUpgrade = ['token.ts', 'binding.ts', 'gateway.ts'];
const codesIn = (part: string, pattern: RegExp, files = sourcesOf(part)): string[] =>
  files.flatMap((file) =>
    [...readFileSync(join(sources, part, file), 'utf8').matchAll(pattern)].map(
      (match) => match[1]!,
    ),
  );

test.each([
  ['error frames of the gateway', Object.keys(FAILURES)],
  [
    'refusals of a browser at the upgrade',
    codesIn('gateway', /new Refusal\(\s*\d+,\s*'(\w+)'/g, atUpgrade),
  ],
  ['what the page finds out by itself', codesIn('console', /\bcode: '(\w+)'/g)],
])('%s can be expected', (_, codes) => {
  expect(codes.length).toBeGreaterThan(3);
  expect(codes.filter((code) => !words.page.some((word) => word === code))).toEqual([]);
});
