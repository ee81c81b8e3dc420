import { z } from 'zod';
import { pageSeen, userSeen } from '../records/run-record.ts';

/** Views that the core itself reads, under these names, where a system has them. */
export const coreViews = {
  /** What the platform wrote down of itself since the run began. */
  history: z.looseObject({
    at: z.string(),
    /** By any of these a scenario may expect the row. */
    words: z.array(z.string()),
  }),
  /** One row. Its parameters say what is looked at besides the state. */
  user: z.object({
    ...userSeen.pick({
      ...{ state: true, access: true, message: true, correlation_id: true, found_in: true },
    }).shape,
    /** From asking for access until it said what it said; null when it was not asked for. */
    after_ms: z.number().nullable(),
    /** What the page renders, or why nobody could look at it. */
    page: z
      .union([
        pageSeen,
        z.object({
          unseen: z.string(),
          /** The profile says so openly. */
          declared: z.boolean(),
          /** Nobody can later either. */
          final: z.boolean(),
        }),
      ])
      .nullable(),
  }),
} as const;

export const userParams = z.strictObject({
  access: z.boolean().default(false),
  page: z.boolean().default(false),
});

export type UserRow = z.infer<typeof coreViews.user>;
export type PageRow = Extract<UserRow['page'], { code: string }>;
