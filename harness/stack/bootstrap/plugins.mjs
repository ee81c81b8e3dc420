// The compose and buildx plugins of the Docker client. Bookworm has neither; trixie's need only
// libc, so they are unpacked into the user's plugin folder and nothing of the machine is changed.
import { chmodSync, copyFileSync, existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { aptUnpack, canInstall } from './apt.mjs';
import { run, SetupError, stateDir, which, withProgress } from './machine.mjs';

const pluginDir = () =>
  join(process.env.DOCKER_CONFIG || join(homedir(), '.docker'), 'cli-plugins');

/** Where the client looks, in its order. @param {string} plugin */
function pluginPath(plugin) {
  const system = ['/usr/local/lib', '/usr/local/libexec', '/usr/lib', '/usr/libexec'];
  const dirs = [pluginDir(), ...system.map((dir) => join(dir, 'docker', 'cli-plugins'))];
  return dirs.map((dir) => join(dir, `docker-${plugin}`)).find((file) => existsSync(file));
}

/**
 * @param {string} plugin
 * @param {string} why
 * @returns {import('./steps.mjs').Step}
 */
function pluginStep(plugin, why) {
  const missing = `docker ${plugin} plugin`;
  const command = `install the ${missing} (Debian 13, Ubuntu: apt-get install docker-${plugin})`;
  return {
    name: `docker ${plugin}`,
    why,
    command,
    async check() {
      const docker = which('docker');
      if (docker === null) return { ok: false, missing: `${missing} (and the docker command)` };
      const { code, stdout } = await run(docker, [plugin, 'version'], { deadlineMs: 20_000 });
      const version = /\bv?\d+\.\d+\.\d+\S*/.exec(stdout)?.[0];
      return code === 0 && version !== undefined
        ? { ok: true, version, where: pluginPath(plugin) ?? 'docker client plugin' }
        : { ok: false, missing };
    },
    async cure() {
      if (!canInstall()) throw new SetupError({ missing, why, command });
      const into = mkdtempSync(join(tmpdir(), 'plugin-'));
      try {
        const failed = await withProgress(
          `${missing}: unpacking it from Debian 13 into ${pluginDir()}`,
          () =>
            aptUnpack({
              suite: 'trixie',
              names: [`docker-${plugin}`],
              into,
              logFile: join(stateDir(), 'apt.log'),
            }),
        );
        if (failed !== null) throw new SetupError({ missing, why, command, detail: failed });
        mkdirSync(pluginDir(), { recursive: true });
        const target = join(pluginDir(), `docker-${plugin}`);
        copyFileSync(join(into, 'usr/libexec/docker/cli-plugins', `docker-${plugin}`), target);
        chmodSync(target, 0o755);
      } finally {
        rmSync(into, { recursive: true, force: true });
      }
    },
  };
}

export const compose = pluginStep('compose', 'the stack is described in docker-compose.chaos.yml');
export const buildx = pluginStep(
  'buildx',
  'images are built by BuildKit, with cached and parallel steps',
);
