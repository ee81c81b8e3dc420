// A hand in the database during a run is named and fails the run, however it writes; the platform's
// own writes never do.
import { readFileSync } from 'node:fs';
import { beforeAll, describe, expect, test } from 'vitest';
import { openDbLog } from '../../../harness/drivers/db-log.ts';
import { watchedDatabase } from '../../../harness/records/profile.ts';
import type { RunRecord } from '../../../harness/records/run-record.ts';
import type { Scenario } from '../../../harness/records/scenario.ts';
import { isAllowed } from '../../../harness/run-tools/write-audit.ts';
import {
  byHand,
  changed,
  drill,
  one,
  profileOfSuite,
  say,
  seconds,
  when,
} from '../support/proof.ts';

/** Each changes nothing that anybody would notice: only the write itself is what must be seen. */
interface Way {
  readonly name: string;
  readonly edit: () => void;
  /** Who, from where, with which program. */
  readonly who: string;
  readonly statement: string;
}

const database = watchedDatabase(profileOfSuite())!;
const api = database.writers.find((writer) => writer.application === 'gpuaas-api')!;
const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;
const psql = (sql: string, more = ''): string =>
  `psql -X -q -v ON_ERROR_STOP=1 ${more} -d ${database.name} -c ${quoted(sql)}`;
const asSuperuser = (sql: string): string => byHand('db', psql(sql), 'postgres');
/**
 * From the very container of the API, with the API's own password, as somebody does who may use
 * docker.
 */
const asApi = (sql: string): string =>
  byHand(
    'api',
    `PGPASSWORD="$(cat /etc/gpuaas-api/db-password)" ${psql(sql, `-h "$GPUAAS_CORE_PREFIX.20" -U ${api.role}`)}`,
  );

const update = (marker: string): string =>
  `update nodes set agent_version = agent_version where node_id = 'node-1' /* ${marker} */`;
const ways: readonly Way[] = [
  {
    name: 'as superuser',
    edit: () => asSuperuser(update('superuser')),
    who: 'postgres from a local socket (psql)',
    statement: update('superuser'),
  },
  {
    name: "as the API's own role through docker exec",
    edit: () => asApi(update('own role')),
    who: `${api.role} from ${api.address}/32 (psql)`,
    statement: update('own role'),
  },
  {
    name: 'inside WITH ... SELECT',
    edit: () =>
      asSuperuser(`with edit as (${update('with')} returning 1) select count(*) from edit`),
    who: 'postgres from a local socket (psql)',
    statement: `with edit as (${update('with')} returning 1) select count(*) from edit`,
  },
  {
    name: 'inside DO',
    edit: () => asSuperuser(`do $$ begin ${update('do')}; end $$`),
    who: 'postgres from a local socket (psql)',
    statement: `do $$ begin ${update('do')}; end $$`,
  },
];

/** The smallest run there is: what it breaks does not matter here. */
async function smallest(): Promise<Scenario> {
  const scenario = await one('node-agent/api-egress-rejected');
  return changed(scenario, { recover: { ...scenario.record.recover, proof: ['preflight-green'] } });
}

describe('four hands during one run', () => {
  let run: RunRecord;
  let edits: readonly string[] = [];
  const window = { from: 0, to: 0 };
  beforeAll(async () => {
    const act = (): void => {
      window.from = Date.now();
      for (const way of ways) way.edit();
      window.to = Date.now();
    };
    run = await drill(await smallest(), {}, when('observe', 'start', act));
    edits = run.audit?.edits ?? [];
    say(`${run.verdict} after ${seconds(run.duration_ms)}: ${edits.length} edits`);
  });

  test('the run fails for them alone', () => {
    expect(run.verdict).toBe('fail');
    expect(run.reasons.map((reason) => reason.field)).toEqual(['database']);
    expect(run.recovery?.after_ms).not.toBeNull();
    expect(run.audit?.watched).toBe(true);
    expect(edits).toHaveLength(ways.length);
  });

  test.for(ways)('$name: role, address, statement and time are named', (way) => {
    const line = edits.find((edit) => edit.endsWith(`: ${way.statement}`));
    expect(line, edits.join('\n')).toBeDefined();
    expect(line?.startsWith(`${way.who} at `), line).toBe(true);
    const at = Date.parse(
      line!.slice(`${way.who} at `.length).slice(0, -`: ${way.statement}`.length),
    );
    expect(at).toBeGreaterThanOrEqual(window.from - 2000);
    expect(at).toBeLessThanOrEqual(window.to + 2000);
    expect(run.reasons[0]?.observed).toContain(line);
    expect(readFileSync(`${run.dir}/summary.txt`, 'utf8')).toContain(way.who);
  });
});

test("the platform's own writes never fail a run", async () => {
  const log = openDbLog(database, `rproof-${process.pid}`);
  await log.createTemporarySlot();
  try {
    const cursor = await log.cursor();
    const run = await drill(await smallest());
    const { rows, unattributed } = await log.auditSince(cursor);
    say(
      `${run.verdict} after ${seconds(run.duration_ms)}: the platform wrote ${rows.length} times`,
    );
    expect(run.verdict, JSON.stringify(run.reasons)).toBe('pass');
    expect(run.audit).toEqual({ watched: true, until: null, edits: [], problem: null });
    expect(rows.length, 'it wrote, and was not blamed').toBeGreaterThan(10);
    expect(unattributed).toEqual([]);
    expect(rows.filter((row) => !isAllowed(row, database))).toEqual([]);
  } finally {
    await log.close();
  }
});
