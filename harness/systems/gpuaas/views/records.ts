import { z } from 'zod';
import { coreViews } from '../../core-views.ts';
import { defineView } from '../../view.ts';
import { api, nodeOf } from '../platform.ts';

const maybe = z.string().nullish();

const changes = z.object({
  events: z.array(
    z.looseObject({ at: z.string(), kind: z.string(), reason: maybe, user_state: maybe }),
  ),
});

/** A change is found by its kind, by the reason that it has, and by what users are told then. */
export const history = defineView({
  title: 'what the platform recorded of the node since the run began',
  fields: coreViews.history.extend(changes.shape.events.element.shape),
  async read(context) {
    const since = encodeURIComponent(context.since);
    const path = `/v1/nodes/${nodeOf(context).name}/history?since=${since}`;
    const { events } = changes.parse(await api(context, 'GET', path));
    return events.map((event) => ({
      ...event,
      words: [event.kind, event.reason, event.user_state].flatMap((word) => word ?? []),
    }));
  },
});

const auditRow = z.looseObject({
  at: z.string(),
  actor_id: z.string(),
  action: z.string(),
  target: z.string(),
  result: z.string(),
  reason: maybe,
  correlation_id: maybe,
});

export const audit = defineView({
  title: 'audit rows since the run began',
  params: z.strictObject({ action: z.string().optional() }),
  fields: auditRow,
  async read({ since, ...context }, { action }) {
    const query = new URLSearchParams({ since, ...(action !== undefined && { action }) });
    const found = await api({ since, ...context }, 'GET', `/v1/audit?${query}`);
    return z.object({ rows: z.array(auditRow) }).parse(found).rows;
  },
});

const taskRow = z.looseObject({ status: z.string(), error: maybe });

export const task = defineView({
  title: 'one task, by its id',
  params: z.strictObject({ id: z.string() }),
  fields: taskRow,
  read: async (context, { id }) =>
    taskRow.parse(await api(context, 'GET', `/v1/tasks/${encodeURIComponent(id)}`)),
});
