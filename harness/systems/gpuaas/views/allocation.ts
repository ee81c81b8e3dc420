import { z } from 'zod';
import { defineView } from '../../view.ts';
import { type AllocationModel, allocationModel } from '../platform.ts';

const fields = z.looseObject({
  allocation_id: z.string(),
  state: z.string(),
  app_status: z.string().nullable().describe('null: there is no app'),
  observation_stale: z.boolean().nullable(),
  last_observation_at: z.string().nullable(),
  failed_marks: z.number().describe('of allocation and app, how many are marked as failed'),
  user_state: z.string(),
  message: z.string(),
});

export function allocationRow(model: AllocationModel): z.infer<typeof fields> {
  const { state, app, user } = model;
  const marks = [state !== 'active', app?.status === 'failed'];
  return {
    ...model,
    app_status: app?.status ?? null,
    observation_stale: app?.observation_stale ?? null,
    last_observation_at: app?.last_observation_at ?? null,
    failed_marks: marks.filter(Boolean).length,
    ...{ user_state: user.state, message: user.message },
  };
}

export const allocationApp = defineView({
  title: 'the allocation on the node and its app, as operators or as their user see them',
  params: z.strictObject({ as: z.enum(['operator', 'user']).default('operator') }),
  fields,
  read: async (context, { as }) => allocationRow(await allocationModel(context, as)),
});
