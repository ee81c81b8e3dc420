// The Docker client and engine. An engine that answers is never touched, whatever its settings.
import { spawn } from 'node:child_process';
import { existsSync, openSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { aptInstall, canInstall } from './apt.mjs';
import {
  elapsed,
  isRoot,
  lastLines,
  run,
  SetupError,
  say,
  stateDir,
  which,
  withProgress,
} from './machine.mjs';

const getDocker =
  process.platform === 'linux'
    ? 'install Docker Engine (Debian, as root: apt-get install --no-install-recommends docker.io)'
    : 'install Docker Desktop and start it';
const startDeadlineMs = 60_000;
const pidFile = '/var/run/docker.pid';

async function installEngine() {
  const logFile = join(stateDir(), 'apt.log');
  return withProgress('docker engine: apt-get install docker.io', () =>
    aptInstall(['docker.io'], logFile),
  );
}

/** @type {import('./steps.mjs').Step} */
export const dockerClient = {
  name: 'docker client',
  why: 'the platform under test runs in containers',
  command: getDocker,
  async check() {
    const where = which('docker');
    if (where === null) return { ok: false, missing: 'docker command' };
    const { stdout } = await run(where, ['--version'], { deadlineMs: 10_000 });
    return { ok: true, version: /version ([^,\s]+)/.exec(stdout)?.[1] ?? stdout.trim(), where };
  },
  async cure() {
    const { why, command } = this;
    if (!canInstall()) throw new SetupError({ missing: 'docker command', why, command });
    const detail = await installEngine();
    if (detail !== null) throw new SetupError({ missing: 'docker command', why, command, detail });
  },
};

export async function engineVersion(deadlineMs = 10_000) {
  const docker = which('docker');
  if (docker === null) return { ok: false, text: 'no docker command' };
  const format = '{{.Server.Version}} (API {{.Server.APIVersion}})';
  const { code, stdout, stderr } = await run(docker, ['version', '--format', format], {
    deadlineMs,
  });
  return code === 0 && !stdout.includes('<no value>')
    ? { ok: true, text: stdout.trim() }
    : { ok: false, text: lastLines(stderr, 1) };
}

/**
 * dockerd refuses to start while its pid file names a living process. Removed only when that
 * process is gone, or is no dockerd (the number was given to another one after a restart of the
 * machine).
 */
export function removeStalePidFile(file = pidFile, processes = '/proc') {
  if (!existsSync(file)) return false;
  const name = join(processes, readFileSync(file, 'utf8').trim(), 'comm');
  if (existsSync(name) && readFileSync(name, 'utf8').trim() === 'dockerd') return false;
  rmSync(file);
  return true;
}

/**
 * systemd runs as the first process: then starting services is its task, and the person's decision.
 */
const hasSystemd = () => existsSync('/run/systemd/system');

/** @param {string} dockerd @param {string} logFile @returns {Promise<string | null>} */
async function startEngine(dockerd, logFile) {
  if (removeStalePidFile()) say('set-up: removed the pid file of an engine that no longer runs');
  const log = openSync(logFile, 'a');
  // A session of its own: closing this terminal, or Ctrl-C in it, must not take the engine along.
  const child = spawn(dockerd, [], { cwd: '/', detached: true, stdio: ['ignore', log, log] });
  /** @type {string | null} */
  let ended = null;
  child.on('error', (error) => (ended = error.message));
  child.on('exit', (code, signal) => (ended = `dockerd ended at once (${signal ?? code})`));
  child.unref();
  const startedAt = performance.now();
  while (performance.now() - startedAt < startDeadlineMs) {
    if ((await engineVersion(5000)).ok) return null;
    if (ended !== null) return `${ended}\n${lastLines(readFileSync(logFile, 'utf8'), 10)}`;
    await sleep(250);
  }
  return `no answer after ${elapsed(startedAt)}\n${lastLines(readFileSync(logFile, 'utf8'), 10)}`;
}

/** The socket that a dockerd of this machine would answer on is the one that the client asks. */
async function asksLocalSocket() {
  if (process.env.DOCKER_HOST) return false;
  const { code, stdout } = await run(
    'docker',
    ['context', 'inspect', '--format', '{{.Endpoints.docker.Host}}'],
    { deadlineMs: 10_000 },
  );
  return code !== 0 || stdout.trim() === 'unix:///var/run/docker.sock';
}

/**
 * @param {string} refusal what the client said @param {string} usual @param {string} [host]
 * DOCKER_HOST
 */
export function engineCure(refusal, usual, host = process.env.DOCKER_HOST) {
  if (refusal.includes('permission denied'))
    return 'sudo usermod -aG docker "$USER", then log in again (or run this command as root)';
  return host ? `start the engine at ${host}, or unset DOCKER_HOST` : usual;
}

/** @type {import('./steps.mjs').Step} */
export const engine = {
  name: 'docker engine',
  why: 'the platform under test runs in containers',
  command: hasSystemd()
    ? 'sudo systemctl start docker'
    : process.platform === 'linux'
      ? 'start dockerd as root, or run this command as root'
      : 'start Docker Desktop',
  async check() {
    const found = await engineVersion();
    return found.ok
      ? { ok: true, version: found.text, where: process.env.DOCKER_HOST || 'default context' }
      : {
          ok: false,
          missing: `docker engine that answers (${found.text})`,
          command: engineCure(found.text, this.command),
        };
  },
  async cure() {
    const { why } = this;
    const missing = 'docker engine that answers';
    const detail = (await engineVersion()).text;
    const command = engineCure(detail, this.command);
    // DOCKER_HOST or a context may name another engine: one started here would not be the one that
    // is meant.
    const ours =
      process.platform === 'linux' && isRoot() && !hasSystemd() && (await asksLocalSocket());
    if (!ours) throw new SetupError({ missing, why, command, detail });
    if (which('dockerd') === null) {
      const failed = canInstall() ? await installEngine() : 'no dockerd on this machine';
      if (failed !== null)
        throw new SetupError({ missing, why, command: getDocker, detail: failed });
    }
    const dockerd = which('dockerd');
    if (dockerd === null) throw new SetupError({ missing, why, command: getDocker });
    const logFile = join(stateDir(), 'dockerd.log');
    const failed = await withProgress(`docker engine: starting dockerd (log: ${logFile})`, () =>
      startEngine(dockerd, logFile),
    );
    if (failed !== null) throw new SetupError({ missing, why, command, detail: failed });
  },
};
