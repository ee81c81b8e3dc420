import { mkdirSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { RunRecord } from '../../harness/records/run-record.ts';
import { appendKilled, writeResults } from '../../reports/allure.ts';
import { type FolderRead, readFolder } from '../../reports/records.ts';
import { paceOf } from '../../reports/summary.ts';

const scenario = {
  record: {
    title: 'A stopped agent',
    why: 'because',
    severity: 'P1',
    system: 'gpuaas',
    source: ['some-id'],
    tags: ['agent'],
  },
};
const line = (stage: string, status: string, at: string, more = {}) =>
  JSON.stringify({ event: 'stage', at, stage, status, ...more });

function killedFolder(): FolderRead {
  const dir = mkdtempSync(join(tmpdir(), 'hopdrill-'));
  mkdirSync(join(dir, 'evidence'));
  writeFileSync(join(dir, 'plan.json'), JSON.stringify({ scenario: 'a/b', stack: 's' }));
  writeFileSync(join(dir, 'scenario.json'), JSON.stringify(scenario));
  writeFileSync(join(dir, 'evidence/log.txt'), 'said');
  const events = [
    line('baseline', 'start', '2026-01-01T00:00:00.000Z'),
    line('baseline', 'done', '2026-01-01T00:00:02.000Z', { duration_ms: 2000, detail: 'healthy' }),
    line('inject', 'start', '2026-01-01T00:00:02.000Z'),
  ];
  writeFileSync(join(dir, 'events.jsonl'), `${events.join('\n')}\n{"event":"sta`);
  return readFolder(dir);
}

function resultsIn(dir: string) {
  return readdirSync(dir)
    .filter((name) => name.endsWith('-result.json'))
    .map((name) => JSON.parse(readFileSync(join(dir, name), 'utf8')));
}

test('a killed run has its severity, its stages with their times, and its files', () => {
  const results = mkdtempSync(join(tmpdir(), 'hopdrill-'));
  appendKilled(results, [killedFolder()]);
  const [result] = resultsIn(results);
  expect(result).toMatchObject({ name: 'a/b', status: 'broken', description: 'because' });
  expect(result.statusDetails.message).toContain('ended in inject (start)');
  expect(result.labels).toContainEqual({ name: 'severity', value: 'critical' });
  expect(result.labels).toContainEqual({ name: 'catalogue', value: 'some-id' });
  expect(result.steps).toMatchObject([{ name: 'baseline', status: 'passed' }]);
  expect(result.steps[0].stop - result.steps[0].start).toBe(2000);
  const log = result.attachments.find((one: { name: string }) => one.name === 'log.txt');
  expect(readFileSync(join(results, log.source), 'utf8')).toBe('said');
});

const stage = (name: string, start_ms: number, duration_ms: number) => ({
  stage: name,
  status: 'done',
  start_ms,
  duration_ms,
  own_ms: 1,
  detail: '',
});
const record = (started_at: string, more: Partial<RunRecord> = {}) =>
  ({
    scenario: 'a/b',
    verdict: 'fail',
    ended_by: null,
    started_at,
    expectation: { file: 'a.yaml' },
    reasons: [{ field: 'hop', expected: 'x', observed: 'y', at: 'a.yaml:3:4' }],
    stages: [
      stage('open', 0, 500),
      stage('baseline', 500, 1500),
      stage('recover', 6000, 4000),
      stage('audit', 10_000, 900),
    ],
    ...more,
  }) as unknown as RunRecord;

test('a finished run is no killed one; asked for, it is written with its verdict and reasons', () => {
  const results = mkdtempSync(join(tmpdir(), 'hopdrill-'));
  const dir = mkdtempSync(join(tmpdir(), 'hopdrill-'));
  const folder = {
    dir,
    record: record('2026-01-01T00:00:00.000Z'),
    last: null,
    problem: null,
    verdict: 'fail' as const,
    scenario: 'a/b',
    stack: 's',
  };
  appendKilled(results, [folder]);
  expect(resultsIn(results)).toEqual([]);
  writeResults(results, [folder]);
  const [result] = resultsIn(results);
  expect(result.status).toBe('failed');
  expect(result.statusDetails.message).toContain('a.yaml:3:4 hop: expected x, observed y');
  expect(result.start).toBe(Date.parse('2026-01-01T00:00:00.000Z'));
});

test('the pace is from the first baseline to the last recovery, over all scenarios', () => {
  const two = [record('2026-01-01T00:00:00.000Z'), record('2026-01-01T00:00:10.000Z')];
  expect(paceOf(two)).toEqual({ spanSeconds: 19.5, perScenario: 9.75 });
  expect(paceOf([])).toBeNull();
});
