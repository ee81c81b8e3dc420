import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { Problem } from '../../../fixtures/gpuaas/console/problem.ts';
import * as problems from '../../../fixtures/gpuaas/console/problem.ts';
import { FAILURES } from '../../../fixtures/gpuaas/gateway/frames.ts';

const sources = resolve(import.meta.dirname, '../../../fixtures/gpuaas');
const sourceOf = (part: string): string =>
  readdirSync(join(sources, part), { withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith('.ts'))
    .map((entry) => readFileSync(join(sources, part, entry.name), 'utf8'))
    .join('\n');

const id = 'corr-for-this-test';
const LATER = /Try again in a minute/;

/** What a person must always be given: a sentence, what to do, and something to quote. */
function expectPlainWords(problem: Problem): void {
  const text = `${problem.message} ${problem.next}`;
  expect(problem.message).toMatch(/^[A-Z].{10,}[.)]$/s);
  expect(problem.next).toMatch(/^[A-Z].{10,}\.$/s);
  expect(text).not.toMatch(/undefined|null|\[object|NaN/);
  expect(problem.code).toMatch(/^[a-z][a-z0-9_]+$/);
  expect(problem.correlationId).toBe(id);
}

describe('what the gateway says in an error frame', () => {
  const codes = Object.keys(FAILURES) as (keyof typeof FAILURES)[];

  test.each(codes)('%s', (code) => {
    const { message, next } = FAILURES[code];
    const shown = problems.fromFrame(
      { type: 'error', code, message, next, correlation_id: id },
      'of-the-mint',
    );
    expectPlainWords(shown);
    expect(shown).toMatchObject({ code, message, next });
  });

  const reasons =
    /PTY_REASONS = new Set\(\[([^\]]+)/.exec(sourceOf('gateway'))?.[1]?.match(/[a-z_]{4,}/g) ?? [];

  test('every reason why there is no shell is told apart', () => {
    const { message, next } = FAILURES.pty_failed;
    const told = reasons.map((reason) =>
      problems.fromFrame({ code: 'pty_failed', message, next, reason, correlation_id: id }, ''),
    );
    for (const problem of told) expectPlainWords(problem);
    expect(reasons).toContain('user_missing');
    expect(new Set([message, ...told.map((problem) => problem.message)]).size).toBe(
      reasons.length + 1,
    );
  });

  test('a frame with nothing but its type is no reason to say "undefined"', () => {
    expectPlainWords(problems.fromFrame({ type: 'error' }, id));
  });
});

describe('what is refused before there is a terminal', () => {
  const refusals = (part: string, pattern: RegExp): [number, string, string][] =>
    [...sourceOf(part).matchAll(pattern)].map(([, status, code, message]) => [
      Number(status),
      code!,
      message!,
    ]);
  const gateway = refusals('gateway', /new Refusal\(\s*(\d+),\s*'(\w+)',\s*[`']([^`']+)/g);
  const shown = ([status, code, message]: [number, string, string]): Problem =>
    problems.fromEnvelope(status, { error: { code, message, correlation_id: id } }, 'of-the-page');

  test('the list is read from the sources of the gateway', () => {
    const codes = gateway.map(([, code]) => code);
    expect(codes).toEqual(
      expect.arrayContaining([
        'session_binding_unavailable',
        'terminal_token_used',
        'terminal_token_expired',
      ]),
    );
  });

  test.each(gateway)('gateway: %i %s', (status, code, message) => {
    expectPlainWords(shown([status, code, message]));
    expect(shown([status, code, message]).code).toBe(code);
  });

  test.each([
    'unauthenticated',
    'forbidden',
    'allocation_not_found',
    'allocation_not_active',
    'database_unavailable',
  ])('api: %s', (code) => {
    expectPlainWords(shown([400, code, 'the words of the platform']));
  });

  test('a new try is advised only where it can help', () => {
    const next = (code: string) => shown([400, code, 'refused']).next;
    expect(next('session_binding_unavailable')).toMatch(LATER);
    for (const code of [
      'unauthenticated',
      'forbidden',
      'allocation_not_active',
      'terminal_token_used',
    ])
      expect(next(code)).not.toMatch(LATER);
  });

  test('an answer that is not the envelope of the platform', () => {
    for (const body of [{}, { error: null }, { error: 'no' }, { error: { code: 7 } }]) {
      const problem = problems.fromEnvelope(502, body, id);
      expectPlainWords(problem);
      expect(problem.code).toBe('http_502');
    }
  });
});

describe('what the page finds out by itself', () => {
  test.each<[string, Problem]>([
    ['terminal_not_ready', problems.timedOut(30, id)],
    ['api_unreachable', problems.apiUnreachable(id)],
    ['terminal_gateway_unreachable', problems.gatewayUnreachable(id)],
    ['terminal_gateway_refused', problems.refusedOnTheWay(id)],
    ['connection_lost', problems.connectionLost(1006, '', id)],
    ['frame_too_large', problems.connectionLost(1009, 'frame_too_large', id)],
    ['page_incomplete', problems.pageIncomplete('xterm.mjs', id)],
    ['page_failed', problems.pageFailed('TypeError', id)],
  ])('%s', (code, problem) => {
    expectPlainWords(problem);
    expect(problem.code).toBe(code);
  });
});
