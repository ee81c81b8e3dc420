// What every set-up step shares: where things lie, how a command is run, how progress is told.
// The files of this folder run with no package installed and under Node 20, hence .mjs with JSDoc
// types.
import { spawn } from 'node:child_process';
import { accessSync, constants, createWriteStream, mkdirSync } from 'node:fs';
import { homedir } from 'node:os';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const repoRoot = fileURLToPath(new URL('../../../', import.meta.url)).replace(/\/$/, '');

/**
 * Logs and downloads of this user; never inside the checkout, so that clones share them.
 * @param {NodeJS.ProcessEnv} env
 */
export function stateDir(env = process.env) {
  const dir = join(env.XDG_STATE_HOME || join(homedir(), '.local', 'state'), 'hopdrill');
  mkdirSync(dir, { recursive: true });
  return dir;
}

/** @param {string} name @returns {string | null} where the program lies on PATH */
export function which(name, path = process.env.PATH ?? '') {
  for (const dir of path.split(delimiter)) {
    const file = join(dir, name);
    try {
      accessSync(file, constants.X_OK);
      return file;
    } catch {
      // Not in this directory: the next one may have it.
    }
  }
  return null;
}

export const isRoot = () => process.getuid?.() === 0;

/** @param {number} startedAt a value of performance.now() */
export const elapsed = (startedAt) => `${((performance.now() - startedAt) / 1000).toFixed(1)} s`;

/** @type {Set<import('node:child_process').ChildProcess>} */
const running = new Set();
let ending = false;

/** A signal came: failures from here on are its doing, and nobody wants to read of them. */
export const isEnding = () => ending;

/**
 * Counts a child among those that end with us.
 * @template {import('node:child_process').ChildProcess} T
 * @param {T} child
 */
export function tied(child) {
  running.add(child);
  child.on('close', () => running.delete(child));
  return child;
}

/**
 * For the programs of set-up: a signal to us ends what we started, and we end after it. An npm that
 * went on unseen would write into the folder that the next try fills.
 */
export function endChildrenOnSignal() {
  const codes = /** @type {const} */ ({ SIGINT: 130, SIGTERM: 143, SIGHUP: 129 });
  for (const [signal, code] of Object.entries(codes)) {
    process.once(signal, () => {
      ending = true;
      const open = [...running];
      for (const child of open) child.kill('SIGTERM');
      setTimeout(() => open.map((child) => child.kill('SIGKILL')), 3000).unref();
      setInterval(() => running.size === 0 && process.exit(code), 20);
    });
  }
}

/** @typedef {{ code: number, stdout: string, stderr: string, timedOut: boolean }} RunResult */

/**
 * Runs one command without a shell. A failure is a record, not an exception; code 127 means not
 * started.
 * @param {string} command
 * @param {string[]} args
 * @param {{ deadlineMs?: number, env?: NodeJS.ProcessEnv, cwd?: string, logFile?: string }} options
 * @returns {Promise<RunResult>}
 */
export function run(command, args, { deadlineMs = 600_000, env, cwd, logFile } = {}) {
  // Nothing new begins after a signal: a fallback, say, would outlive the Ctrl-C that caused it.
  if (ending)
    return Promise.resolve({ code: 130, stdout: '', stderr: 'interrupted', timedOut: false });
  return new Promise((resolve) => {
    const child = tied(
      spawn(command, args, {
        cwd,
        env: { ...process.env, ...env },
        stdio: ['ignore', 'pipe', 'pipe'],
      }),
    );
    const log = logFile === undefined ? null : createWriteStream(logFile, { flags: 'a' });
    const result = { code: 127, stdout: '', stderr: '', timedOut: false };
    const timer = setTimeout(() => {
      result.timedOut = true;
      child.kill('SIGKILL');
    }, deadlineMs);
    /** @param {number} code */
    const finish = (code) => {
      clearTimeout(timer);
      log?.end();
      resolve({ ...result, code });
    };
    child.stdout.on('data', (chunk) => {
      result.stdout += String(chunk);
      log?.write(chunk);
    });
    child.stderr.on('data', (chunk) => {
      result.stderr += String(chunk);
      log?.write(chunk);
    });
    child.on('error', (error) => {
      result.stderr += error.message;
      finish(127);
    });
    child.on('close', (code) => finish(code ?? 1));
  });
}

/**
 * Progress goes to stderr: stdout belongs to the command that set-up runs for. @param {string} line
 */
export const say = (line) => void process.stderr.write(`${line}\n`);

/**
 * Tells that a piece of work began, that it still runs (every 5 s), and how long it took.
 * @template T
 * @param {string} what
 * @param {() => Promise<T>} work
 * @returns {Promise<T>}
 */
export async function withProgress(what, work) {
  const startedAt = performance.now();
  say(`set-up: ${what} ...`);
  const ticker = setInterval(() => say(`set-up: ${what}, ${elapsed(startedAt)} so far`), 5000);
  try {
    const value = await work();
    say(`set-up: ${what}: done (${elapsed(startedAt)})`);
    return value;
  } finally {
    clearInterval(ticker);
  }
}

/** @param {string} text @param {number} count */
export const lastLines = (text, count) => text.trimEnd().split('\n').slice(-count).join('\n');

/** A step that cannot work: what is missing, why it is needed, and what would cure it. */
export class SetupError extends Error {
  /** @param {{ missing: string, why: string, command: string, detail?: string }} facts */
  constructor(facts) {
    const detail = facts.detail ? `\n${facts.detail}\n` : '\n';
    super(`missing: ${facts.missing}${detail}needed:  ${facts.why}\ncure:    ${facts.command}`);
    this.name = 'SetupError';
    this.exitCode = 69;
  }
}
