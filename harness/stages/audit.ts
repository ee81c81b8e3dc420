import { type DbLog, openDbLog, type WriteRow } from '../drivers/db-log.ts';
import type { Profile } from '../records/profile.ts';
import type { RunRecord } from '../records/run-record.ts';
import { messageOf } from './deps.ts';

/**
 * Who wrote to the platform's database between the baseline and the end: nobody but the platform's
 * own services may have.
 */
export interface WriteAudit {
  finish(): Promise<NonNullable<RunRecord['audit']> & { problem: string | null }>;
}

type Database = NonNullable<Profile['database']>;

/** Undefined when the profile names no database to watch. */
export async function startAudit(profile: Profile, runId: string): Promise<WriteAudit | undefined> {
  const { database } = profile;
  if (database === undefined) return undefined;
  const log = openDbLog(database, runId);
  try {
    await log.createSlot();
    const cursor = await log.cursor();
    return { finish: () => finish(log, database, cursor) };
  } catch (error) {
    await log.close();
    throw error;
  }
}

async function finish(
  log: DbLog,
  database: Database,
  cursor: string,
): Promise<NonNullable<RunRecord['audit']> & { problem: string | null }> {
  try {
    const found = await log.auditSince(cursor);
    const strangers = found.rows.filter((row) => !isAllowed(row, database));
    const edits = [
      ...strangers.map(wordsOf),
      ...found.unattributed.map(
        (xid) => `transaction ${xid} changed data and no service accounts for it`,
      ),
    ];
    return { watched: true, edits, problem: null };
  } catch (error) {
    return { watched: false, edits: [], problem: messageOf(error) };
  } finally {
    await log.dropSlot().catch(() => undefined);
    await log.close().catch(() => undefined);
  }
}

export function isAllowed(
  row: Pick<WriteRow, 'session_user' | 'client_addr' | 'application_name'>,
  database: Pick<Database, 'writers'>,
): boolean {
  const address = (row.client_addr ?? '').replace(/\/\d+$/, '');
  return database.writers.some(
    (writer) =>
      writer.role === row.session_user &&
      writer.address === address &&
      writer.application === row.application_name,
  );
}

function wordsOf(row: WriteRow): string {
  const statement = (row.query ?? row.op).replace(/\s+/g, ' ').slice(0, 160);
  return `${row.session_user} from ${row.client_addr ?? 'a local socket'} (${row.application_name ?? 'no application'}) at ${row.at}: ${statement}`;
}
