import type { PreflightReport } from '../records/preflight.ts';
import type { TimelineEntry } from '../records/timeline.ts';
import type { StageRecord } from './clock.ts';
import { hookContext, messageOf, type StageDeps } from './deps.ts';

/**
 * What the platform wrote down of itself meanwhile, asked once it is well again, on the runner's
 * clock.
 */
export async function platformEvents(
  deps: StageDeps,
  report: PreflightReport | null,
): Promise<TimelineEntry[]> {
  if (deps.hooks.timeline === undefined) return [];
  try {
    const { clockOffsetMs, events } = await deps.hooks.timeline(hookContext(deps, report));
    return events.map((event) => ({
      ...event,
      at: new Date(Date.parse(event.at) - clockOffsetMs).toISOString(),
      offset_ms: clockOffsetMs,
    }));
  } catch (error) {
    deps.note(`timeline: ${messageOf(error)}`);
    return [];
  }
}

/**
 * Stages and platform events in one order. A start goes before what it caused, also in the same
 * millisecond.
 */
export function timelineOf(
  startedAt: Date,
  stages: readonly StageRecord[],
  events: readonly TimelineEntry[],
): TimelineEntry[] {
  const atMs = (ms: number): string => new Date(startedAt.getTime() + ms).toISOString();
  const ours = stages.flatMap((stage): TimelineEntry[] => [
    {
      at: atMs(stage.start_ms),
      source: 'hopdrill',
      what: `${stage.stage} begins`,
      detail: '',
      correlation_id: null,
      offset_ms: 0,
    },
    {
      at: atMs(stage.start_ms + stage.duration_ms),
      source: 'hopdrill',
      what: `${stage.stage} ${stage.status}`,
      detail: stage.detail,
      correlation_id: null,
      offset_ms: 0,
    },
  ]);
  return [...ours, ...events].sort((a, b) => (a.at < b.at ? -1 : a.at > b.at ? 1 : 0));
}
