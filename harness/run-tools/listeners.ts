import type { Span } from '../base/spans.ts';
import type { RunEvent } from '../records/events.ts';
import type { Attachment, PartName } from '../records/run-record.ts';
import type { RunFolder } from './folder.ts';

/** Somebody who follows a run as it happens. None can change what comes of it. */
export interface Listener {
  /** A step begins or ends, or has something to say meanwhile. */
  event?(event: RunEvent): void;
  /** What a step found, as the record keeps it. */
  part?(name: PartName, value: unknown): void;
  /** One observation among many, before its step has ended. */
  item?(stream: string, value: unknown): void;
  spans?(stage: string, spans: readonly Span[]): void;
  file?(file: Attachment): void;
}

/** The print of the run: each call is on the disk before it returns. */
export function folderListener(folder: RunFolder): Listener {
  return {
    event: (event) => folder.append('events.jsonl', event),
    part: (name, value) => folder.append('parts.jsonl', { part: name, value }),
    item: (stream, value) => folder.append(`${stream}.jsonl`, value),
    spans: (stage, spans) => {
      const kept = spans.map(({ kind, name, startMs, endMs }) => ({
        kind,
        name,
        ms: Math.round((endMs - startMs) * 10) / 10,
      }));
      folder.append('spans.jsonl', { stage, spans: kept });
    },
  };
}

/**
 * Calls every listener, whatever becomes of the others. What they throw is kept: a run whose folder
 * cannot be written goes on to put back what it broke, and then says so.
 */
export function tellAll(listeners: readonly Listener[]) {
  const failures: Error[] = [];
  return {
    failures,
    tell<K extends keyof Listener>(what: K, ...words: Parameters<NonNullable<Listener[K]>>): void {
      for (const listener of listeners) {
        try {
          const hear = listener[what] as ((...all: typeof words) => void) | undefined;
          hear?.(...words);
        } catch (error) {
          failures.push(error instanceof Error ? error : new Error(String(error)));
        }
      }
    },
  };
}
