/**
 * The write-ahead ledger of a run: one JSON line a step, on disk before the step happens. It must
 * be readable after any crash: a torn last line is dropped, repeated lines change nothing, and a
 * step never goes back to an earlier state.
 */
import { closeSync, fsyncSync, mkdirSync, openSync, readFileSync, writeSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { z } from 'zod';
import type { StepState } from '../records/fault.ts';
import {
  type LedgerLine,
  ledgerLine,
  ledgerVersion,
  type NewLine,
  type RunLine,
  type StepPlan,
} from '../records/ledger.ts';

export interface Ledger {
  readonly file: string;
  append(line: NewLine): void;
  close(): void;
}

export interface StepRecord {
  readonly step: number;
  readonly plan: StepPlan;
  readonly state: StepState;
  readonly digestBefore: string;
  readonly digestInjected: string | null;
  /** The undo began, so a strange digest does not mean that a repair came by. */
  readonly undoing: boolean;
  readonly by: string;
  readonly detail: string | null;
}

export interface LedgerState {
  readonly run: RunLine | null;
  readonly steps: readonly StepRecord[];
  readonly closed: boolean;
  /** Lines that a crash cut off while they were written: what they announce had not begun. */
  readonly torn: number;
  /** Why this text does not say everything that was done; null when it does. */
  readonly unreadable: string | null;
}

export const ledgerFile = (dir: string): string => join(dir, 'ledger.jsonl');

export function openLedger(dir: string): Ledger {
  mkdirSync(dir, { recursive: true, mode: 0o700 });
  const file = ledgerFile(dir);
  const fd = openSync(file, 'a', 0o600);
  // The folder's entry for the file has to be on disk as well.
  const dirFd = openSync(dirname(file), 'r');
  fsyncSync(dirFd);
  closeSync(dirFd);
  let open = true;
  return {
    file,
    append(line) {
      // One write, so that the runner and the watchdog may append to the same file. A newline first
      // ends a line torn by a crash.
      writeSync(fd, `\n${JSON.stringify({ ...line, v: ledgerVersion })}\n`);
      fsyncSync(fd);
    },
    close() {
      if (open) closeSync(fd);
      open = false;
    },
  };
}

/** Later states win; `ambiguous` is left by anything that was done afterwards. */
const rank: Readonly<Record<StepState, number>> = {
  intended: 0,
  applied: 1,
  ambiguous: 2,
  reverted: 3,
  verified: 4,
  superseded: 4,
};

export const isFinal = (state: StepState): boolean =>
  state === 'verified' || state === 'superseded';

export function replay(text: string): LedgerState {
  let run: RunLine | null = null;
  let closed = false;
  let torn = 0;
  const problems: string[] = [];
  const steps = new Map<number, StepRecord>();
  for (const [index, raw] of text.split('\n').entries()) {
    if (raw === '') continue;
    const value = jsonOf(raw);
    if (value === undefined) {
      torn += 1;
      continue;
    }
    const line = lineOf(value);
    if (typeof line === 'string') problems.push(`line ${index + 1}: ${line}`);
    else if (line.type === 'run') run ??= line;
    else if (line.type === 'closed') closed = true;
    else {
      const next = advance(steps.get(line.step), line);
      if (next === undefined) problems.push(`line ${index + 1}: step ${line.step} has no plan`);
      else steps.set(line.step, next);
    }
  }
  if (run === null && steps.size > 0) problems.push('no line says which targets it is about');
  const unreadable = problems.length === 0 ? null : problems.join('; ');
  const inOrder = [...steps.values()].sort((a, b) => a.step - b.step);
  return { run, steps: inOrder, closed, torn, unreadable };
}

function jsonOf(raw: string): unknown {
  try {
    return JSON.parse(raw);
  } catch {
    return undefined;
  }
}

const versioned = z.object({ v: z.number() });

/** The line, or why it cannot be understood. */
function lineOf(value: unknown): LedgerLine | string {
  const version = versioned.safeParse(value).data?.v ?? 1;
  if (version > ledgerVersion)
    return `written by a newer hopdrill (ledger version ${version}; this one reads up to ${ledgerVersion})`;
  const parsed = ledgerLine.safeParse(value);
  if (parsed.success) return parsed.data;
  const issue = parsed.error.issues[0];
  return `${issue?.path.join('.') || 'the line'}: ${issue?.message ?? 'not a line of a ledger'}`;
}

function advance(
  known: StepRecord | undefined,
  line: Extract<LedgerLine, { type: 'step' }>,
): StepRecord | undefined {
  if (known === undefined) {
    if (line.plan === undefined) return undefined;
    const { step, plan, state, by } = line;
    return {
      step,
      plan,
      state,
      by,
      digestBefore: line.digest_before ?? '',
      digestInjected: line.digest_injected ?? null,
      undoing: line.undoing ?? false,
      detail: line.detail ?? null,
    };
  }
  if (rank[line.state] < rank[known.state]) return known;
  return {
    ...known,
    undoing: known.undoing || (line.undoing ?? false),
    state: line.state,
    by: line.by,
    digestInjected: line.digest_injected ?? known.digestInjected,
    detail: line.detail ?? known.detail,
  };
}

/** Whether its last line says so; a look at the end of the text, without parsing it. */
export function isClosed(dir: string): boolean {
  const text = readFileSync(ledgerFile(dir), 'utf8').trimEnd();
  return text.slice(text.lastIndexOf('\n') + 1).startsWith('{"type":"closed"');
}

export function readLedger(dir: string): LedgerState {
  return replay(readFileSync(ledgerFile(dir), 'utf8'));
}
