// Small commands of this machine that one purpose or another calls; Debian's package of each where
// it can be installed.
import { join } from 'node:path';
import { aptInstall, canInstall } from './apt.mjs';
import { run, SetupError, stateDir, which, withProgress } from './machine.mjs';

/**
 * @param {string} name the command @param {string} debian its package @param {string} why
 * @param {string[]} [versionArgs]
 * @returns {import('./steps.mjs').Step}
 */
function toolStep(name, debian, why, versionArgs = ['--version']) {
  const command = `install ${name} (Debian, as root: apt-get install --no-install-recommends ${debian})`;
  return {
    name,
    why,
    command,
    async check() {
      const where = which(name);
      if (where === null) return { ok: false, missing: `${name} command` };
      const { stdout, stderr } = await run(where, versionArgs, { deadlineMs: 10_000 });
      return { ok: true, version: (stdout || stderr).trim().split('\n')[0] ?? '', where };
    },
    async cure() {
      const missing = `${name} command`;
      if (!canInstall()) throw new SetupError({ missing, why, command });
      const logFile = join(stateDir(), 'apt.log');
      const detail = await withProgress(`${name}: apt-get install ${debian}`, () =>
        aptInstall([debian], logFile),
      );
      if (detail !== null) throw new SetupError({ missing, why, command, detail });
    },
  };
}

export const patch = toolStep(
  'patch',
  'patch',
  'older releases are patches; the unit tests build them as the images do',
);

const compared = 'the shell scripts that the preflight is compared with call it';
export const ssh = toolStep('ssh', 'openssh-client', compared, ['-V']);
export const curl = toolStep('curl', 'curl', compared);
export const openssl = toolStep('openssl', 'openssl', compared, ['version']);
