// Runs one command of the checks or tests: its words straight to ours, or kept until it has ended.
import { spawn } from 'node:child_process';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const root = fileURLToPath(new URL('..', import.meta.url)).replace(/\/$/, '');

export interface Ended {
  readonly code: number;
  /** What it wrote, unless it wrote straight to our own output. */
  readonly output: string;
  readonly seconds: number;
}

/** The packages' own programs come first, Node 24 among them. */
const path = `${join(root, 'node_modules', '.bin')}${delimiter}${process.env.PATH ?? ''}`;

export interface ChildOptions {
  readonly keep: boolean;
  readonly env?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
}

export function child(
  command: string,
  args: readonly string[],
  { keep, env, signal }: ChildOptions,
): Promise<Ended> {
  const startedAt = performance.now();
  const process_ = spawn(command, args, {
    cwd: root,
    env: { ...process.env, PATH: path, ...env },
    stdio: ['ignore', keep ? 'pipe' : 'inherit', keep ? 'pipe' : 'inherit'],
  });
  // Asked once, politely: what it started has to be cleared away by itself.
  const stop = () => void process_.kill('SIGTERM');
  signal?.addEventListener('abort', stop, { once: true });
  let output = '';
  process_.stdout?.on('data', (chunk) => (output += String(chunk)));
  process_.stderr?.on('data', (chunk) => (output += String(chunk)));
  return new Promise((resolve) => {
    const finish = (code: number) => {
      signal?.removeEventListener('abort', stop);
      resolve({ code, output, seconds: (performance.now() - startedAt) / 1000 });
    };
    process_.on('error', (error) => {
      output += error.message;
      finish(127);
    });
    process_.on('close', (code) => finish(code ?? 1));
  });
}
