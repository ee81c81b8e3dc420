// The audit's place in the log of the database: it goes with the run, however that ends; and an
// audit that could not go on says until when it saw every write.
import { afterEach, describe, expect, test } from 'vitest';
import { byHand, container, docker, hopdrill, stackOfSuite } from '../support/proof.ts';
import { egress, text, wholeAfterEach } from '../support/proof-bad-day.ts';
import { begin, scenarioFile } from '../support/proof-child.ts';
import { World } from '../support/world.ts';

const stack = stackOfSuite();

const sql = (statement: string): string =>
  byHand('db', `psql -X -q -t -A -v ON_ERROR_STOP=1 -d gpuaas -c "${statement}"`, 'postgres');
const slots = (): string[] =>
  sql('select slot_name from pg_replication_slots order by 1')
    .split('\n')
    .filter((line) => line !== '');
const create = (slot: string): string =>
  sql(`select pg_create_logical_replication_slot('${slot}', 'test_decoding')`);
const drop = (slot: string): string =>
  sql(
    `select pg_drop_replication_slot(slot_name) from pg_replication_slots where slot_name = '${slot}'`,
  );

wholeAfterEach();
afterEach(() => expect.poll(slots, { timeout: 20_000 }).toEqual([]));

describe('a run', () => {
  test('has a temporary slot that ends with its process', async () => {
    const run = begin([scenarioFile(text({ faults: egress }))]);
    await run.at('inject');
    expect(sql('select temporary from pg_replication_slots')).toBe('t');
    run.kill('SIGKILL');
    await run.end();
    await expect.poll(slots, { timeout: 5000 }).toEqual([]);
  });

  test('drops what ten killed runs of an older version left, and passes', async () => {
    for (let count = 0; count < 10; count += 1) create(`hopdrill_r2511010000000${count}_older`);
    const run = begin([scenarioFile(text({ faults: egress }))]);
    const ended = await run.end();
    expect([ended.exitCode, ended.record?.verdict], ended.stderr).toEqual([0, 'pass']);
    expect(slots()).toEqual([]);
  });
});

describe('hopdrill undo', () => {
  test('names and drops them; a slot of somebody else stays', async () => {
    create('hopdrill_r251101000000000_older');
    create('replica_of_somebody');
    try {
      const seen = await hopdrill(['undo', '--stack', stack, '--dry-run']);
      expect(seen.stdout).toContain(
        'replication slot of run hopdrill_r251101000000000_older: found',
      );
      expect(slots()).toHaveLength(2);
      const { exitCode, stdout } = await hopdrill(['undo', '--stack', stack]);
      expect([exitCode, stdout.includes('hopdrill_r251101000000000_older: removed')]).toEqual([
        0,
        true,
      ]);
      expect(slots()).toEqual(['replica_of_somebody']);
    } finally {
      drop('replica_of_somebody');
    }
  });

  test('leaves the slot of a run that goes on', async () => {
    const run = begin([scenarioFile(text({ faults: egress }))]);
    await run.at('inject');
    const { exitCode, stdout } = await hopdrill(['undo', '--stack', stack]);
    expect([exitCode, stdout.includes('in use (its run goes on)')], stdout).toEqual([0, true]);
    const ended = await run.end();
    expect([ended.exitCode, ended.record?.audit?.watched], ended.stderr).toEqual([0, true]);
  });
});

describe('a run during which the database goes', () => {
  test('by a restart: inconclusive, and it says until when every write was seen', async () => {
    const run = begin([scenarioFile(text({ faults: egress }))]);
    await run.at('effect');
    const began = Date.now();
    // Killed at once: told to end, PostgreSQL would first wait for its sessions.
    docker('restart', '-t', '0', container('db'));
    const restarted = Date.now();
    const ended = await run.end();
    expect([ended.exitCode, ended.record?.verdict], ended.stderr).toEqual([2, 'inconclusive']);
    const { audit, reasons } = ended.record!;
    expect(audit).toMatchObject({ watched: false, edits: [] });
    const until = Date.parse(audit!.until!);
    expect(until).toBeGreaterThan(Date.parse(ended.record!.started_at));
    expect(until).toBeLessThan(restarted);
    expect(until, 'not long before it went').toBeGreaterThan(began - 10_000);
    expect(reasons.map(({ field }) => field)).toContain('database');
    expect(reasons.find(({ field }) => field === 'database')?.observed).toContain(
      `audited until ${audit!.until}`,
    );
    await new World(stack).untilGreen(60);
  });

  test('by its own fault: the slot outlives the database, and every write is seen', async () => {
    const run = begin([scenarioFile(databaseStopped)]);
    await run.at('observe');
    docker('start', container('db'));
    await expect.poll(() => sql('select temporary from pg_replication_slots')).toBe('f');
    const ended = await run.end();
    expect(ended.record?.audit, ended.stderr).toEqual({
      watched: true,
      until: null,
      edits: [],
      problem: null,
    });
    expect(slots()).toEqual([]);
  });

  test('by its own fault, and the runner is killed: undo drops the slot after the database is back', async () => {
    const run = begin([scenarioFile(databaseStopped)]);
    await run.at('observe');
    run.kill('SIGKILL');
    await run.end();
    const { exitCode, stdout } = await hopdrill(['undo', '--stack', stack]);
    expect(exitCode, stdout).toBe(0);
    expect(stdout).toMatch(/-audit: audit\.slot on database: applied -> verified/);
    expect(slots()).toEqual([]);
    await new World(stack).untilGreen(60);
  });
});

const databaseStopped = text({
  scenario: 'proof/database-stopped',
  faults: '  - container.stop: { part: db }',
  expect: '  hop: allocation_binding\n  signal: allocation_not_active',
});
