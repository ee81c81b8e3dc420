// Commands as a person starts them, and the memory of the processes that they become.
import { spawn } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { root } from '../child.ts';

export const hopdrill = `${root}/hopdrill`;

export interface Finished {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
  readonly ms: number;
  /** Summed PSS in MB, one reading a second; empty unless asked for. */
  readonly memory: readonly number[];
}

export interface CommandOptions {
  readonly memory?: boolean;
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly expect?: readonly number[];
  /** Asks the command to end as Ctrl-C does, and waits until it has put back what it broke. */
  readonly signal?: AbortSignal;
  /** Each line of stdout, as it comes, with how many readings of the memory there were by then. */
  readonly onLine?: (line: string, readings: number) => void;
}

/** Runs one command; any code that is not expected breaks the measurement. */
export function command(
  file: string,
  argv: readonly string[],
  options: CommandOptions = {},
): Promise<Finished> {
  const { expect = [0], cwd = root } = options;
  return new Promise((resolve, reject) => {
    const began = performance.now();
    const child = spawn(file, argv, {
      cwd,
      env: { ...process.env, NO_COLOR: '1', ...options.env },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let [stdout, stderr, rest] = ['', '', ''];
    const memory: number[] = [];
    child.stdout.on('data', (chunk) => {
      stdout += String(chunk);
      const lines = (rest + String(chunk)).split('\n');
      rest = lines.pop() ?? '';
      for (const line of lines) options.onLine?.(line, memory.length);
    });
    child.stderr.on('data', (chunk) => (stderr += String(chunk)));
    const sampler = options.memory
      ? setInterval(() => child.pid && memory.push(summedPss(child.pid)), 1000)
      : undefined;
    const end = () => void child.kill('SIGINT');
    options.signal?.addEventListener('abort', end);
    child.once('error', reject);
    child.once('close', (code) => {
      clearInterval(sampler);
      options.signal?.removeEventListener('abort', end);
      const ended = { code: code ?? 255, stdout, stderr, ms: performance.now() - began, memory };
      if (expect.includes(ended.code)) resolve(ended);
      else
        reject(
          new Error(
            `${file} ${argv.join(' ')} ended with ${ended.code}: ${(stderr || stdout).trim().slice(-600)}`,
          ),
        );
    });
  });
}

interface Proc {
  readonly pid: number;
  readonly parent: number;
  readonly words: string;
}

function processes(): Proc[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => {
      try {
        const stat = readFileSync(`/proc/${name}/stat`, 'utf8');
        const parent = Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]);
        return [
          {
            pid: Number(name),
            parent,
            words: readFileSync(`/proc/${name}/cmdline`, 'utf8').replaceAll('\0', ' '),
          },
        ];
      } catch {
        return [];
      }
    });
}

function pssOf(pid: number): number {
  try {
    return (
      Number(
        /^Pss:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8'))?.[1] ?? 0,
      ) / 1024
    );
  } catch {
    return 0;
  }
}

/**
 * The process, all its descendants, and the watchdogs, which are the harness's own but nobody's
 * children.
 */
export function summedPss(pid: number): number {
  const all = processes();
  const family = new Set([pid]);
  for (let grown = true; grown; ) {
    const more = all.filter((one) => family.has(one.parent) && !family.has(one.pid));
    for (const one of more) family.add(one.pid);
    grown = more.length > 0;
  }
  for (const one of all)
    if (/harness\/undo\/watchdog\.ts |^hopdrill-watchdog /.test(one.words)) family.add(one.pid);
  return [...family].reduce((sum, one) => sum + pssOf(one), 0);
}
