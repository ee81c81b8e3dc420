// A situation demands its evidence: shown, the run passes; taken away while it is collected, the
// run fails for that alone.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import type { Events } from '../../../harness/records/events.ts';
import { timelineIn } from '../../../reports/timeline.ts';
import { byHand, drill, one, when } from '../support/proof.ts';

const scenario = await one('scenarios/gpuaas/terminal/node-stream-mtls-rejected.yaml');
const tool = '/usr/bin/openssl';
const back = (): void => void byHand('node-1', `[ ! -e ${tool}.away ] || mv ${tool}.away ${tool}`);

afterEach(back);

test('what is demanded is collected, and the timeline has stages and platform events in one order', async () => {
  const run = await drill(scenario);
  expect(run.verdict, JSON.stringify(run.reasons)).toBe('pass');
  const read = (file: string): string => readFileSync(join(run.dir, 'evidence', file), 'utf8');
  expect(read('node-certificate.txt')).toMatch(/serial=[0-9A-F]+[\s\S]*URI:gpuaas:node:node-1/);
  expect(JSON.parse(read('gateway-records.json')).tls.refusals.length).toBeGreaterThan(0);

  const entries = timelineIn(run.dir);
  const times = entries.map((entry) => entry.at);
  expect(times).toEqual([...times].sort());
  const at = (source: string, what: string): number =>
    entries.findIndex((entry) => entry.source === source && entry.what === what);
  expect(at('gateway', 'node_stream_refused')).toBeGreaterThan(at('hopdrill', 'inject begins'));
  expect(at('gateway', 'node_stream_refused')).toBeLessThan(at('hopdrill', 'recover done'));
  expect(entries.some((entry) => entry.source === 'audit')).toBe(true);
});

test('without the tool that reads the certificate the run fails, at the line of the situation that demands it', async () => {
  const gone = when('evidence', 'start', () => void byHand('node-1', `mv ${tool} ${tool}.away`));
  const again = when('repair', 'start', back);
  const hands: Events = (event) => {
    gone(event);
    again(event);
  };
  const run = await drill(scenario, {}, hands);
  expect(run.verdict, JSON.stringify(run.reasons)).toBe('fail');
  expect(run.reasons).toMatchObject([{ field: 'evidence', expected: 'cert serial/SAN' }]);
  expect(run.reasons[0]?.at).toMatch(/node-stream-mtls-rejected\.yaml:5:\d+$/);
  expect(run.reasons[0]?.observed).toMatch(/^missing: node-certificate: .*openssl/);
  expect(run.recovery?.after_ms).not.toBeNull();
});
