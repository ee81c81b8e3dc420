/**
 * The write-ahead ledger of a run: one JSON line a step, on disk before the step happens. It must
 * be readable after any crash: a torn last line is dropped, repeated lines change nothing, and a
 * step never goes back to an earlier state.
 */
import { closeSync, fsyncSync, mkdirSync, openSync, readFileSync, writeSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { FaultPlan, StepState } from '../records/fault.ts';
import { type LedgerLine, ledgerLine, type RunLine } from '../records/ledger.ts';

export interface Ledger {
  readonly file: string;
  append(line: LedgerLine): void;
  close(): void;
}

export interface StepRecord {
  readonly step: number;
  readonly plan: FaultPlan;
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
  /** Lines that could not be read, the torn last one included. */
  readonly torn: number;
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
      writeSync(fd, `\n${JSON.stringify(line)}\n`);
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
  const steps = new Map<number, StepRecord>();
  for (const raw of text.split('\n')) {
    if (raw === '') continue;
    const line = parseLine(raw);
    if (line === null) torn += 1;
    else if (line.type === 'run') run ??= line;
    else if (line.type === 'closed') closed = true;
    else {
      const next = advance(steps.get(line.step), line);
      if (next !== undefined) steps.set(line.step, next);
    }
  }
  return { run, steps: [...steps.values()].sort((a, b) => a.step - b.step), closed, torn };
}

function parseLine(raw: string): LedgerLine | null {
  try {
    return ledgerLine.parse(JSON.parse(raw));
  } catch {
    return null;
  }
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
