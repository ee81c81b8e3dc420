import { messageOf } from '../base/message-of.ts';
import { type DbLog, openDbLog, type WriteRow } from '../drivers/db-log.ts';
import { type Profile, type WatchedDatabase, watchedDatabase } from '../records/profile.ts';
import type { RunRecord } from '../records/run-record.ts';

/**
 * Who wrote to the platform's database between the baseline and the end: nobody but the platform's
 * own services may have.
 */
export interface WriteAudit {
  finish(): Promise<AuditEnd>;
  /** Ends the session, and with it a temporary slot; harmless after `finish`. */
  close(): Promise<void>;
}

type AuditEnd = NonNullable<RunRecord['audit']>;

/**
 * Undefined when the profile names no database to watch. A temporary slot is removed by PostgreSQL
 * with the session, also when this process is killed; a run that breaks the database has a
 * permanent one, named after the same run.
 */
export async function startAudit(
  profile: Profile,
  runId: string,
  temporary = true,
): Promise<WriteAudit | undefined> {
  const database = watchedDatabase(profile);
  if (database === undefined) return undefined;
  const log = openDbLog(database, runId);
  const close = async (): Promise<void> => log.close().catch(() => undefined);
  try {
    if (temporary) await log.createTemporarySlot();
    const book = openBook(log, database, await log.cursor());
    const finish = async (): Promise<AuditEnd> => {
      const end = await book.close();
      await close();
      return end;
    };
    return { finish, close };
  } catch (error) {
    await close();
    throw error;
  }
}

interface Book {
  close(): Promise<AuditEnd>;
}

/** Short enough that a lost session leaves little unseen, long enough to cost the database nothing. */
const everyMs = 2000;

/** Reads the log from time to time, so that a session that ends early leaves an audit up to then. */
function openBook(log: DbLog, database: WatchedDatabase, first: string): Book {
  const edits = new Map<string, string>();
  let cursor = first;
  let until = new Date();
  let problem: string | null = null;
  let closing = false;
  const note = (rows: readonly WriteRow[]): void => {
    for (const row of rows) if (!isAllowed(row, database)) edits.set(row.id, wordsOf(row));
  };
  const read = async (): Promise<void> => {
    if (log.sessionLost()) return;
    const began = new Date();
    try {
      const found = await log.auditSince(cursor);
      note(found.rows);
      for (const xid of found.unattributed)
        edits.set(`xid ${xid}`, `transaction ${xid} changed data and no service accounts for it`);
      cursor = found.cursor;
      until = began;
      problem = null;
    } catch (error) {
      problem = messageOf(error);
    }
  };
  let timer: NodeJS.Timeout | undefined;
  let reading: Promise<void> = Promise.resolve();
  const next = (): void => {
    timer = setTimeout(() => {
      reading = read().then(() => {
        if (!closing) next();
      });
    }, everyMs);
    timer.unref();
  };
  next();
  return {
    async close() {
      closing = true;
      clearTimeout(timer);
      await reading;
      await read();
      if (log.sessionLost()) problem = 'the session with the database ended';
      if (problem === null)
        return { watched: true, until: null, edits: [...edits.values()], problem };
      // The slot is gone or cannot be read; strangers among the rows are named all the same.
      note(await log.rowsSince(cursor).catch(() => []));
      const said = `audited until ${until.toISOString()}; then ${problem}`;
      return {
        watched: false,
        until: until.toISOString(),
        edits: [...edits.values()],
        problem: said,
      };
    },
  };
}

export function isAllowed(
  row: Pick<WriteRow, 'session_user' | 'client_addr' | 'application_name'>,
  database: Pick<WatchedDatabase, 'writers'>,
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
