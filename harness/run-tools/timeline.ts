import { messageOf } from '../base/message-of.ts';
import type { PreflightReport } from '../records/preflight.ts';
import type { RunRecord } from '../records/run-record.ts';
import type { TimelineEntry } from '../records/timeline.ts';
import type { Tools } from './tools.ts';

/**
 * What the platform wrote down of itself meanwhile, asked once it is well again, on the runner's
 * clock.
 */
export async function platformEvents(
  tools: Tools,
  report: PreflightReport | null,
): Promise<TimelineEntry[]> {
  if (tools.system.timeline === undefined) return [];
  try {
    const { clockOffsetMs, events } = await tools.system.timeline(tools.context(report));
    return events.map((event) => ({
      ...event,
      at: new Date(Date.parse(event.at) - clockOffsetMs).toISOString(),
      offset_ms: clockOffsetMs,
    }));
  } catch (error) {
    tools.note(`timeline: ${messageOf(error)}`);
    return [];
  }
}

/**
 * Stages and platform events in one order. A start goes before what it caused, also in the same
 * millisecond.
 */
export function timelineOf(
  { started_at, stages }: Pick<RunRecord, 'started_at' | 'stages'>,
  events: readonly TimelineEntry[],
): TimelineEntry[] {
  const atMs = (ms: number): string => new Date(Date.parse(started_at) + ms).toISOString();
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
