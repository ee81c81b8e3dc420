import { messageOf } from '../base/message-of.ts';
import type { StageName } from '../records/events.ts';
import { redactValue } from '../records/redact.ts';
import {
  type Attachment,
  type PartName,
  type RunParts,
  type RunRecord,
  runParts,
  type UnjudgedRun,
  unjudgedRun,
} from '../records/run-record.ts';
import type { RunFolder } from './folder.ts';
import type { StepClock, Tell } from './steps.ts';
import { round } from './steps.ts';

/** The record of a run while it grows. */
export interface RecordBook {
  /** Parts once known are never changed. */
  record(found: Partial<RunParts>): void;
  attach(name: string, content: string | Uint8Array): Attachment;
  attachJson(name: string, value: unknown): Attachment;
  failed(stage: StageName, error: unknown): void;
  /** As it would be read back from the disk now: redacted, and through JSON. */
  soFar(): UnjudgedRun;
  /** Throws when the run folder could not be written to its end. */
  finish(judgement: Judged): RunRecord;
}

interface Judged {
  readonly verdict: RunRecord['verdict'];
  readonly reasons: readonly RunRecord['reasons'][number][];
  readonly leftovers: readonly string[];
}

/** Who the run is about, known before its first step. */
export type Head = Omit<
  UnjudgedRun,
  | keyof RunParts
  | 'schema_version'
  | 'errors'
  | 'stages'
  | 'attachments'
  | 'ended_at'
  | 'duration_ms'
  | 'own_ms'
  | 'dir'
>;

/** What a part is while its step was not reached. */
const notReached: RunParts = {
  refused: null,
  baseline: null,
  effect: [],
  observation: null,
  evidence: [],
  repairs: [],
  readback: [],
  differences: [],
  recovery: null,
  audit: null,
  watched: [],
  invariants: null,
  teardown: [],
  ended_by: null,
};

export function openRecordBook(
  head: Head,
  folder: RunFolder,
  clock: StepClock,
  tell: Tell,
): RecordBook {
  const parts = new Map<PartName, unknown>();
  const errors: UnjudgedRun['errors'] = [];
  const attachments = new Map<string, Attachment>();
  const kept = (file: Attachment): Attachment => {
    attachments.set(file.path, file);
    tell('file', file);
    return file;
  };
  const soFar = (): UnjudgedRun => {
    const record: UnjudgedRun = {
      schema_version: 2,
      ...head,
      ended_at: new Date().toISOString(),
      duration_ms: round(clock.elapsed()),
      own_ms: round(clock.stages.reduce((sum, one) => sum + one.own_ms, 0)),
      dir: folder.dir,
      ...notReached,
      ...Object.fromEntries(parts),
      errors,
      stages: [...clock.stages],
      attachments: [...attachments.values()],
    };
    return unjudgedRun.parse(JSON.parse(JSON.stringify(redactValue(folder.redact, record))));
  };
  return {
    record(found) {
      const known = Object.entries(runParts.partial().parse(found)) as [PartName, unknown][];
      for (const [name, part] of known) {
        if (parts.has(name)) throw new Error(`the part ${name} of the record is known already`);
        parts.set(name, part);
        tell('part', name, part);
      }
    },
    attach: (name, content) => kept(folder.write(name, content)),
    attachJson: (name, value) => kept(folder.json(name, value)),
    failed: (stage, error) => void errors.push({ stage, message: messageOf(error) }),
    soFar,
    finish({ verdict, reasons, leftovers }) {
      const whole: RunRecord = {
        ...soFar(),
        verdict,
        reasons: [...reasons],
        leftovers: [...leftovers],
      };
      folder.json('verdict.json', whole);
      return whole;
    },
  };
}
