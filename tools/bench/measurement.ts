// What a measurement is: some rows of the table in DESIGN 10, taken together because they are
// compared with each other.
import { join } from 'node:path';
import type { BenchRow } from '../../harness/records/documents.ts';
import type { Profile } from '../../harness/records/profile.ts';

export interface Bench {
  readonly rounds: number;
  readonly peers: boolean;
  /** A healthy stack of GPUaaS, brought up when it is first asked for. */
  gpuaas(): Promise<{ readonly profile: Profile; readonly file: string; readonly stack: string }>;
  /** The smallest system, likewise. */
  oneHop(): Promise<{ readonly profile: Profile; readonly file: string }>;
  say(text: string): void;
  note(row: string, text: string): void;
  /** A folder that is removed at the end. */
  readonly work: string;
}

/** Run folders of a bench are not those of its user, and go with the rest of its work. */
export const runsIn = ({ work }: Bench): string[] => ['--out', join(work, 'runs')];

export interface Measurement {
  /** Rows that it gives; `--only` takes any of them, or the measurement's own name. */
  readonly name: string;
  readonly rows: readonly string[];
  /** What it takes, for `--list`. */
  readonly about: string;
  /**
   * Not part of a plain run, because it takes minutes: the option that asks for it, and the row
   * that stands in its place.
   */
  readonly onRequest?: { readonly option: 'clone' | 'catalogue'; readonly row: BenchRow };
  run(bench: Bench): Promise<BenchRow[]>;
}

export interface Reached {
  readonly name: string;
  readonly value: number;
  readonly unit: string;
  readonly baseline?: number | null;
  readonly reach: string;
  readonly ok: boolean | null;
}

const tidy = (value: number): number => Number(value.toFixed(Math.abs(value) < 10 ? 3 : 1));

export function row({ name, value, unit, baseline = null, reach, ok }: Reached): BenchRow {
  return {
    name,
    value: tidy(value),
    unit,
    baseline: baseline === null ? null : tidy(baseline),
    ratio: baseline === null ? null : tidy(value / baseline),
    reach,
    ok,
  };
}

/** A row that this run has no number for, with the reason as its note. */
export const unmeasured = (name: string, unit: string, reach: string): BenchRow => ({
  name,
  value: null,
  unit,
  baseline: null,
  ratio: null,
  reach,
  ok: null,
});
