import { z } from 'zod';

/**
 * One line of `timeline.jsonl`: a stage of the run or an event of the platform, both on the
 * runner's clock.
 */
export const timelineEntry = z.strictObject({
  at: z.string(),
  /** Who says so: `hopdrill`, or a record of the platform (history, audit, gateway, agent). */
  source: z.string(),
  what: z.string(),
  detail: z.string(),
  correlation_id: z.string().nullable(),
  /** How far the platform's clock was ahead when it was measured; `at` is corrected by it. */
  offset_ms: z.number(),
});
export type TimelineEntry = z.infer<typeof timelineEntry>;
