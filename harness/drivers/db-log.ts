/**
 * The auditor's view of the platform's database: who wrote what (`write_log`, filled by triggers),
 * and every transaction that changed anything (a logical decoding slot), so that a write which
 * dodged the triggers is still counted. Reads only.
 */
import type postgres from 'postgres';
import { call, connect, type DatabaseTarget } from './db-session.ts';
import { slotOf } from './db-slots.ts';

export interface WriteRow {
  readonly id: string;
  readonly at: string;
  readonly xid: string;
  readonly session_user: string;
  readonly client_addr: string | null;
  readonly application_name: string | null;
  readonly correlation_id: string | null;
  readonly op: string;
  readonly table_name: string;
  readonly query: string | null;
}

export interface Audit {
  readonly rows: readonly WriteRow[];
  /** Transactions that changed data without leaving a row. */
  readonly unattributed: readonly string[];
  /** Hand it to the next call. */
  readonly cursor: string;
}

export interface DbLog {
  /** The slot that is read; PostgreSQL removes it when this session ends, however it ends. */
  createTemporarySlot(): Promise<void>;
  /** Where the log stands now; what happened before is nobody's business any more. */
  cursor(): Promise<string>;
  auditSince(cursor: string): Promise<Audit>;
  /** Rows of the write log alone, for when the slot is gone. */
  rowsSince(cursor: string): Promise<readonly WriteRow[]>;
  /** Whether the session that held the temporary slot has ended: the slot went with it. */
  sessionLost(): boolean;
  close(): Promise<void>;
}

export function openDbLog(target: DatabaseTarget, runId: string): DbLog {
  const slot = slotOf(runId);
  let holdsSlot = false;
  let lost = false;
  // Named like its slot, so that others can tell whether a permanent slot still has its reader.
  const sql = connect(target, slot, () => {
    lost ||= holdsSlot;
  });
  return {
    createTemporarySlot: () =>
      call('create slot', async () => {
        await sql`select pg_create_logical_replication_slot(${slot}, 'test_decoding', true)`;
        holdsSlot = true;
      }),
    cursor: () =>
      call('cursor', async () => {
        const [newest] = await sql<
          { id: string }[]
        >`select coalesce(max(id), 0)::text as id from write_log`;
        return newest?.id ?? '0';
      }),
    auditSince: (since) => call('audit', () => audit(sql, slot, since)),
    rowsSince: (since) => call('read the write log', () => rowsOf(sql, since, [])),
    sessionLost: () => lost,
    close: () => {
      holdsSlot = false;
      return sql.end({ timeout: 1 });
    },
  };
}

/**
 * First the slot, then the rows: a transaction that commits in between has its row read and its xid
 * left in the slot for next time, where the row is found again by its xid. The other way round an
 * honest write would look unattributed. The slot moves on only after both were read, so that what a
 * failed call had seen is seen again by the next one.
 */
async function audit(sql: postgres.Sql, slot: string, since: string): Promise<Audit> {
  const changes = await sql<
    { lsn: string; data: string }[]
  >`select lsn::text, data from pg_logical_slot_peek_changes(${slot}, null, null, 'skip-empty-xacts', '1')`;
  const xids = [
    ...new Set(changes.flatMap(({ data }) => /^BEGIN (\d+)$/.exec(data)?.slice(1, 2) ?? [])),
  ];
  const rows = await rowsOf(sql, since, xids);
  const last = changes.at(-1);
  if (last !== undefined) await sql`select pg_replication_slot_advance(${slot}, ${last.lsn})`;
  const known = new Set(rows.map((row) => shortXid(row.xid)));
  const cursor = rows.reduce((max, row) => (BigInt(row.id) > BigInt(max) ? row.id : max), since);
  return { rows, unattributed: xids.filter((xid) => !known.has(xid)), cursor };
}

async function rowsOf(
  sql: postgres.Sql,
  since: string,
  xids: readonly string[],
): Promise<readonly WriteRow[]> {
  return sql<WriteRow[]>`
    select id::text, at::text, xid::text, "session_user"::text as session_user, client_addr::text,
      application_name, correlation_id, op, table_name, query
    from write_log where id > ${since}::bigint or xid::text = any(${xids}) order by id`;
}

/** The trigger may store the 64-bit form; decoding prints the low 32 bits. */
export const shortXid = (xid: string): string => (BigInt(xid) & 0xffff_ffffn).toString();
