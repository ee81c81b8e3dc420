import { appendFileSync, mkdtempSync, readFileSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeAll, expect, test, vi } from 'vitest';
import { parseNodeFrame } from '../../../fixtures/gpuaas/gateway/frames.ts';
import { nodeOf } from '../../../fixtures/gpuaas/gateway/identity.ts';
import { Observations } from '../../../fixtures/gpuaas/gateway/observations.ts';
import { sameSecret } from '../../../fixtures/gpuaas/gateway/token.ts';

// The store complains in the log of the part.
beforeAll(() => {
  vi.spyOn(process.stdout, 'write').mockReturnValue(true);
});

const fresh = () => mkdtempSync(join(tmpdir(), 'observations-'));

test('observations are known again after a process that was killed', () => {
  const directory = fresh();
  const before = new Observations(directory);
  before.record('s-1', 'corr-1', 'browser_accepted');
  before.record('s-2', 'corr-2', 'browser_accepted');
  before.record('s-2', 'corr-2', 'closed', 'done', 'exit');
  // A line that was cut short, as a kill in the middle of a write leaves it.
  appendFileSync(join(directory, 'observations.jsonl'), '{"session_id":"s-1","eve');
  const after = new Observations(directory);
  expect(after.unfinished()).toEqual(['s-1']);
  after.record('s-1', 'corr-1', 'closed', 'restart', 'gateway_restarted');
  const third = new Observations(directory);
  expect(third.unfinished()).toEqual([]);
  expect(third.of('s-1').map(({ event }) => event)).toEqual(['browser_accepted', 'closed']);
  expect(third.of('s-2').at(-1)).toMatchObject({
    event: 'closed',
    reason: 'exit',
    correlation_id: 'corr-2',
  });
});

test('a flood stays bounded in memory and on disk, and cannot hide the end', () => {
  const directory = fresh();
  const store = new Observations(directory);
  for (let index = 0; index < 5_000; index += 1)
    store.record(`s-${index}`, 'corr', 'browser_accepted', 'x'.repeat(400));
  for (let index = 0; index < 500; index += 1)
    store.record('s-4999', 'corr', 'node_stream_refused');
  store.record('s-4999', 'corr', 'closed', undefined, 'node_stream_timeout');
  expect(store.of('s-0')).toEqual([]);
  expect(store.of('s-4999').length).toBeLessThanOrEqual(41);
  expect(store.of('s-4999').at(-1)?.reason).toBe('node_stream_timeout');
  expect(statSync(join(directory, 'observations.jsonl')).size).toBeLessThan(1_200_000);
  expect(readFileSync(join(directory, 'observations.jsonl'), 'utf8').endsWith('\n')).toBe(true);
});

test('a disk that refuses does not stop the store', () => {
  const store = new Observations(join(import.meta.filename, 'below-a-file'));
  store.record('s-1', 'corr-1', 'browser_accepted');
  expect(store.of('s-1')).toHaveLength(1);
});

test('a certificate names exactly one node', () => {
  expect(nodeOf('URI:gpuaas:node:node-1')).toBe('node-1');
  expect(nodeOf('DNS:node-1, URI:gpuaas:node:node-1')).toBe('node-1');
  expect(nodeOf('URI:gpuaas:node:node-1, URI:gpuaas:node:node-2')).toBeNull();
  expect(nodeOf('DNS:node-1')).toBeNull();
  expect(nodeOf(null)).toBeNull();
});

test('a node cannot put words of its own into the reasons', () => {
  expect(parseNodeFrame('{"type":"pty_failed","reason":"<b>","detail":1}')).toEqual({
    type: 'pty_failed',
    reason: 'pty_unavailable',
    detail: '',
  });
  expect(parseNodeFrame('nonsense').type).toBe('bad');
});

test('secrets are equal only when they are', () => {
  expect(sameSecret('abc', 'abc')).toBe(true);
  expect(sameSecret('abc', 'abcd')).toBe(false);
  expect(sameSecret('', '')).toBe(false);
});
