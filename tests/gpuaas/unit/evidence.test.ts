import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import type { RunRecord } from '../../../harness/records/run-record.ts';
import { timelineOf } from '../../../harness/run-tools/timeline.ts';
import { catalogue, demandsOf } from '../../../harness/scenarios/catalogue.ts';
import { evidence } from '../../../harness/systems/gpuaas/evidence.ts';
import { timeline } from '../../../reports/timeline.ts';

/** The first situations (issue 4): each of their evidence texts is shown by a source. */
const first = [
  'node-agent-service-stopped',
  'node-api-egress-blocked',
  'node-api-dns-broken',
  'node-api-stale-trust-bundle',
  'node-root-disk-full',
  'node-task-result-post-blocked',
  'node-api-auth-rejected-stale-cert',
  'node-ops-ssh-fails-agent-polls',
  'terminal-public-route-missing',
  'terminal-redis-session-binding-unavailable',
  'terminal-node-egress-blocked',
  'terminal-node-stream-mtls-rejected',
  'terminal-allocation-user-missing',
  'terminal-pty-readiness-delayed',
];

const entries = JSON.parse(
  readFileSync(new URL('../../../scenarios/gpuaas/catalogue.json', import.meta.url), 'utf8'),
) as {
  id: string;
  evidence: string[] | null;
}[];
const textsOf = (id: string): string[] => entries.find((entry) => entry.id === id)?.evidence ?? [];
const served = new Set(Object.values(evidence).flatMap((source) => source.texts ?? []));

test.each(first)('%s: a source for every evidence text', (id) => {
  expect(textsOf(id).length).toBeGreaterThan(0);
  expect(textsOf(id).filter((text) => !served.has(text))).toEqual([]);
});

test('a source serves only texts that the catalogue has, and no two write the same file', () => {
  const known = new Set(entries.flatMap((entry) => entry.evidence ?? []));
  expect([...served].filter((text) => !known.has(text))).toEqual([]);
  const files = Object.values(evidence).map((source) => source.file);
  expect(new Set(files).size).toBe(files.length);
});

test('what is demanded carries the place of its situation in the file', () => {
  const demanded = demandsOf(['terminal-public-route-missing', 'node-api-dns-broken'], catalogue());
  const evidence = { kind: 'evidence' } as const;
  expect(demanded).toContainEqual({ ...evidence, text: 'edge route config', path: 'source.0' });
  expect(demanded).toContainEqual({ ...evidence, text: 'endpoint profile', path: 'source.1' });
  expect(demanded.filter(({ kind }) => kind === 'must_not').length).toBeGreaterThan(1);
});

test('stages and platform events stand in one order, also in the report', () => {
  const startedAt = new Date('2026-01-01T00:00:00.000Z');
  const stage = (name: 'inject' | 'observe', start_ms: number) =>
    ({
      stage: name,
      status: 'done',
      start_ms,
      duration_ms: 1000,
      own_ms: 5,
      detail: 'done',
    }) as const;
  const change = {
    source: 'history',
    what: 'status',
    detail: 'stale',
    correlation_id: null,
    offset_ms: 0,
    at: '2026-01-01T00:00:01.500Z',
  };
  const stages = [stage('inject', 0), stage('observe', 1000)];
  const entries = timelineOf({ started_at: startedAt.toISOString(), stages }, [change]);
  expect(entries.map((entry) => entry.what)).toEqual([
    'inject begins',
    'inject done',
    'observe begins',
    'status',
    'observe done',
  ]);
  const record = {
    started_at: startedAt.toISOString(),
    duration_ms: 2000,
    stages,
  } as unknown as RunRecord;
  const drawn = timeline(record, entries).split('\n');
  const column = (name: string, mark: string): number =>
    drawn.find((line) => line.startsWith(name))?.indexOf(mark) ?? -1;
  expect(column('history', '*')).toBeGreaterThan(column('observe', '#'));
});
