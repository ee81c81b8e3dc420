// Replication slots of ours that no session reads any more, whichever version left them there.
import { messageOf } from '../base/message-of.ts';
import type { Targets } from '../records/ledger.ts';
import type { Leftover } from './marks.ts';

/** `alive`: runs of this machine that go on; theirs may be between two looks at the log. */
export async function sweepSlots(
  { database }: Targets,
  options: { readonly dryRun: boolean; readonly alive: ReadonlySet<string> },
): Promise<Leftover[]> {
  if (database === undefined) return [];
  const { openDbSlots, slotOf } = await import('../drivers/db-slots.ts');
  const slots = openDbSlots(database);
  const ours = new Set([...options.alive].map(slotOf));
  const found: Leftover[] = [];
  try {
    for (const slot of await slots.list()) {
      const about = { where: 'database', what: 'replication slot', run: slot.name };
      if (slot.inUse || ours.has(slot.name))
        found.push({ ...about, state: 'in_use', detail: 'its run goes on' });
      else if (options.dryRun) found.push({ ...about, state: 'found', detail: 'would be dropped' });
      else
        found.push(
          await slots.drop(slot.name).then(
            (): Leftover => ({ ...about, state: 'removed', detail: 'dropped' }),
            (error: unknown): Leftover => ({ ...about, state: 'failed', detail: messageOf(error) }),
          ),
        );
    }
  } finally {
    await slots.close();
  }
  return found;
}
