/**
 * Replication slots of ours at a platform's database. A slot that nobody reads makes the database
 * keep its log for ever, and there are ten at most; so every one of them has somebody who drops it.
 */
import { call, connect, type DatabaseTarget } from './db-session.ts';

const prefix = 'hopdrill_';

/** A slot's name may hold nothing but lower case letters, digits and underscores. */
export const slotOf = (runId: string): string =>
  `${prefix}${runId.toLowerCase().replaceAll(/[^a-z0-9_]/g, '_')}`.slice(0, 63);

export interface Slot {
  readonly name: string;
  /** Read at this moment, or its reader has a session at the database. */
  readonly inUse: boolean;
}

export interface DbSlots {
  /** Slots of ours, those of other runs included. */
  list(): Promise<Slot[]>;
  /** A slot that outlives its session and the database's own restart. */
  create(slot: string): Promise<void>;
  /** Harmless when it is gone already. One that is just being read is waited for a moment. */
  drop(slot: string): Promise<void>;
  close(): Promise<void>;
}

export function openDbSlots(target: DatabaseTarget): DbSlots {
  const sql = connect(target, 'hopdrill-slots');
  return {
    list: () =>
      call(
        'list slots',
        () => sql<Slot[]>`
          select slot_name as name, active or exists (
            select 1 from pg_stat_activity where application_name = slot_name) as "inUse"
          from pg_replication_slots where starts_with(slot_name, ${prefix}) order by slot_name`,
      ),
    create: (slot) =>
      call('create slot', async () => {
        await sql`select pg_create_logical_replication_slot(${slot}, 'test_decoding')`;
      }),
    drop: (slot) =>
      call('drop slot', async () => {
        await sql`select pg_drop_replication_slot(slot_name)
          from pg_replication_slots where slot_name = ${slot}`;
      }),
    close: () => sql.end({ timeout: 1 }),
  };
}
