// A run in a process of its own, followed by its events, so that something can be done to it at a
// known moment.
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { execa } from 'execa';
import { root } from '../../../harness/cli/select.ts';
import { type RunEvent, runEvent, type StageName } from '../../../harness/records/events.ts';
import type { RunRecord } from '../../../harness/records/run-record.ts';
import { readFolder } from '../../../reports/records.ts';
import { stackOfSuite } from './proof.ts';

export interface Ended {
  readonly exitCode: number | null;
  readonly signal: string | null;
  readonly events: readonly RunEvent[];
  readonly stderr: string;
  readonly dir: string;
  readonly record: RunRecord | null;
}

export interface Running {
  /** Resolves when the stage has that status; a run that ends before is an error. */
  at(stage: StageName, status?: 'start' | 'done'): Promise<void>;
  /** Resolves with the first note that matches. */
  noted(text: RegExp): Promise<void>;
  kill(signal: NodeJS.Signals): void;
  /** As `| head` does once it has seen enough. */
  stopReading(): void;
  end(): Promise<Ended>;
}

export function begin(words: readonly string[], env: Record<string, string> = {}): Running {
  const argv = ['harness/cli/main.ts', 'run', ...words, '--stack', stackOfSuite(), '--json'];
  const child = execa('node', argv, {
    cwd: root,
    reject: false,
    stdin: 'ignore',
    env: { NO_COLOR: '1', ...env },
    timeout: 300_000,
    forceKillAfterDelay: false,
    buffer: { stdout: false },
  });
  const events: RunEvent[] = [];
  const waiting = new Set<() => void>();
  const lines = createInterface({ input: child.stdout });
  lines.on('line', (line) => {
    events.push(runEvent.parse(JSON.parse(line)));
    for (const look of waiting) look();
  });
  const closed = new Promise<void>((resolve) => lines.once('close', resolve));
  const reached = (stage: StageName, status: string): boolean =>
    events.some(
      (event) => event.event === 'stage' && event.stage === stage && event.status === status,
    );
  const until = (what: string, seen: () => boolean): Promise<void> =>
    new Promise((resolve, reject) => {
      const look = (): void => {
        if (!seen()) return;
        waiting.delete(look);
        resolve();
      };
      waiting.add(look);
      void closed.then(() =>
        reject(new Error(`the run ended before ${what}: ${JSON.stringify(events.at(-1))}`)),
      );
      look();
    });
  return {
    at: (stage, status = 'start') => until(`${stage} (${status})`, () => reached(stage, status)),
    noted: (text) =>
      until(`a note ${text}`, () =>
        events.some((event) => event.event === 'note' && text.test(event.text)),
      ),
    kill: (signal) => void child.kill(signal),
    stopReading() {
      lines.close();
      child.stdout.destroy();
    },
    async end() {
      const ended = await child;
      await closed;
      const dir =
        events.flatMap((event) => (event.event === 'run' ? [event.dir] : [])).at(-1) ?? '';
      return {
        exitCode: ended.exitCode ?? null,
        signal: ended.signal ?? null,
        events,
        stderr: ended.stderr,
        dir,
        record: dir === '' ? null : readFolder(dir).record,
      };
    },
  };
}

/** A scenario file outside of the repository's folder, gone with the machine's temporary files. */
export function scenarioFile(text: string, name = 'bad-day.yaml'): string {
  const file = join(mkdtempSync(join(tmpdir(), 'hopdrill-proof-')), name);
  writeFileSync(file, text);
  return file;
}
