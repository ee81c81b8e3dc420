// A guard of the profile that breaks ends the run at once, and what was broken is put back.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { exitCodeOf } from '../../../harness/records/exit-codes.ts';
import type { GuardProfile } from '../../../harness/records/profile.ts';
import type { RunRecord } from '../../../harness/records/run-record.ts';
import type { ScenarioFile } from '../../../harness/records/scenario.ts';
import { runOn } from '../../../harness/run.ts';
import { changed, leftOnTargets, one, out, profileOfSuite } from '../support/proof.ts';

afterEach(async () => expect(await leftOnTargets()).toEqual([]));

const { connect, endpoints } = profileOfSuite();
const at = (base: string, path: string, more: Partial<GuardProfile> = {}): GuardProfile => ({
  name: 'shop',
  url: `${base}${path}`,
  status: 200,
  resolveAddress: connect.address,
  caFile: connect.caFile,
  ...more,
});

async function run(
  scenario: string,
  guard: GuardProfile,
  change: Partial<ScenarioFile> = {},
): Promise<RunRecord> {
  const profile = { ...profileOfSuite(), guard: [guard] };
  return runOn(changed(await one(scenario), change), { profile, options: { out } });
}
const stagesOf = (record: RunRecord): string[] => record.stages.map(({ stage }) => stage);

test('holds: the run goes to its end', async () => {
  const record = await run('terminal/public-route-missing', at(endpoints.api!, '/healthz'));
  expect(record.verdict, JSON.stringify(record.reasons)).toBe('pass');
  const plan = JSON.parse(readFileSync(join(record.dir, 'plan.json'), 'utf8'));
  expect(plan.guards).toEqual([`shop: ${endpoints.api!}/healthz answers 200`]);
});

test('breaks by the fault: aborted, undone, and no recovery is waited for', async () => {
  const guard = at(endpoints.console!, '/');
  const record = await run('terminal/public-route-missing', guard, {
    faults: [{ 'edge.route-remove': { host: 'console' } }],
  });
  expect([record.verdict, exitCodeOf(record)], JSON.stringify(record.reasons)).toEqual([
    'aborted',
    4,
  ]);
  expect(record.reasons).toMatchObject([
    { field: 'guard shop', expected: `${guard.url} answers 200` },
  ]);
  expect(record.readback).toMatchObject([{ ok: true }]);
  expect(stagesOf(record)).toContain('inject');
  expect(stagesOf(record)).not.toContain('recover');
});

test('does not hold even before: nothing is broken', async () => {
  const guard = at(endpoints.api!, '/healthz', { status: 418 });
  const record = await run('terminal/public-route-missing', guard);
  expect([record.verdict, exitCodeOf(record)]).toEqual(['aborted', 4]);
  expect(record.reasons).toEqual([
    { field: 'guard shop', expected: `${guard.url} answers 418`, observed: 'answers 200' },
  ]);
  expect(stagesOf(record)).not.toContain('inject');
  expect(existsSync(join(record.dir, 'ledger.jsonl'))).toBe(true);
});
