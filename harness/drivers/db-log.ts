/**
 * The auditor's view of the platform's database: who wrote what (`write_log`, filled by triggers),
 * and every transaction that changed anything (a logical decoding slot), so that a write which
 * dodged the triggers is still counted. Reads only.
 */
import { readFileSync } from 'node:fs';
import postgres from 'postgres';
import { measure } from '../records/spans.ts';
import { DriverError, messageOf, withDeadline } from './errors.ts';

export interface DatabaseTarget {
  readonly host: string;
  readonly port: number;
  readonly name: string;
  readonly user: string;
  readonly passwordFile: string;
}

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
  createSlot(): Promise<void>;
  /** Where the log stands now; what happened before is nobody's business any more. */
  cursor(): Promise<string>;
  auditSince(cursor: string): Promise<Audit>;
  dropSlot(): Promise<void>;
  /**
   * Slots of ours that no process reads; they would keep the database's log from being recycled.
   */
  abandonedSlots(): Promise<string[]>;
  dropAbandoned(slot: string): Promise<void>;
  close(): Promise<void>;
}

const prefix = 'hopdrill_';

export function openDbLog(target: DatabaseTarget, runId: string): DbLog {
  // A slot's name may hold nothing but lower case letters, digits and underscores.
  const slot = `${prefix}${runId.toLowerCase().replaceAll(/[^a-z0-9_]/g, '_')}`.slice(0, 63);
  const sql = postgres({
    host: target.host,
    port: target.port,
    database: target.name,
    username: target.user,
    password: readFileSync(target.passwordFile, 'utf8').trim(),
    max: 1,
    connect_timeout: 5,
    idle_timeout: 20,
    connection: { application_name: 'hopdrill-auditor' },
    onnotice: () => {},
  });
  const call = <T>(what: string, work: () => Promise<T>, ms = 8000): Promise<T> =>
    measure('driver', `database ${what}`, () =>
      withDeadline('database', what, ms, work()).catch((error: unknown) =>
        Promise.reject(wrap(what, error)),
      ),
    );
  const cursor = async (): Promise<string> =>
    (await sql<{ id: string }[]>`select coalesce(max(id), 0)::text as id from write_log`)[0]?.id ??
    '0';
  return {
    createSlot: () =>
      call(
        'create slot',
        async () =>
          void (await sql`select pg_create_logical_replication_slot(${slot}, 'test_decoding')`),
      ),
    cursor: () => call('cursor', cursor),
    auditSince: (since) => call('audit', () => audit(sql, slot, since)),
    dropSlot: () =>
      call(
        'drop slot',
        async () =>
          void (await sql`select pg_drop_replication_slot(slot_name) from pg_replication_slots where slot_name = ${slot} and not active`),
      ),
    abandonedSlots: () =>
      call('list slots', async () => {
        const rows = await sql<
          { slot_name: string }[]
        >`select slot_name from pg_replication_slots where slot_name like ${`${prefix}%`} and not active`;
        return rows.map((row) => row.slot_name);
      }),
    dropAbandoned: (name) =>
      call(
        'drop slot',
        async () =>
          void (await sql`select pg_drop_replication_slot(slot_name) from pg_replication_slots where slot_name = ${name} and not active`),
      ),
    close: () => sql.end({ timeout: 1 }),
  };
}

/**
 * First the slot, then the rows: a transaction that commits in between has its row read and its xid
 * left in the slot for next time, where the row is found again by its xid. The other way round an
 * honest write would look unattributed.
 */
async function audit(sql: postgres.Sql, slot: string, since: string): Promise<Audit> {
  const changes = await sql<
    { data: string }[]
  >`select data from pg_logical_slot_get_changes(${slot}, null, null, 'skip-empty-xacts', '1')`;
  const xids = [
    ...new Set(changes.flatMap(({ data }) => /^BEGIN (\d+)$/.exec(data)?.slice(1, 2) ?? [])),
  ];
  const rows = await sql<WriteRow[]>`
    select id::text, at::text, xid::text, "session_user"::text as session_user, client_addr::text, application_name, correlation_id, op, table_name, query
    from write_log where id > ${since}::bigint or xid::text = any(${xids}) order by id`;
  const known = new Set(rows.map((row) => shortXid(row.xid)));
  const cursor = rows.reduce((last, row) => (BigInt(row.id) > BigInt(last) ? row.id : last), since);
  return { rows, unattributed: xids.filter((xid) => !known.has(xid)), cursor };
}

/** The trigger may store the 64-bit form; decoding prints the low 32 bits. */
export const shortXid = (xid: string): string => (BigInt(xid) & 0xffff_ffffn).toString();

function wrap(what: string, error: unknown): DriverError {
  if (error instanceof DriverError) return error;
  const code = (error as { code?: string }).code ?? '';
  const unreachable = /^(ECONN|CONNECT|ENOTFOUND|ETIMEDOUT|57P)/.test(code);
  return new DriverError(
    'database',
    unreachable ? 'unreachable' : code === '28P01' ? 'auth' : 'failed',
    `${what}: ${messageOf(error)}`,
    {
      cause: error,
    },
  );
}
