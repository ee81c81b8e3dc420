// The npm packages, exactly as the lock file names them. A stamp inside node_modules, written last,
// says which lock it was made from; an interrupted install has no stamp and is made anew.
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { lastLines, repoRoot, run, SetupError, stateDir, which, withProgress } from './machine.mjs';

const stampName = '.hopdrill-stamp';

/** @param {string} root */
export function lockDigest(root) {
  const hash = createHash('sha256').update(readFileSync(join(root, 'package-lock.json')));
  return hash.digest('hex');
}

/** @param {string} root @returns {'complete' | 'absent' | 'unfinished' | 'other-lock'} */
export function packagesState(root) {
  const modules = join(root, 'node_modules');
  if (!existsSync(modules)) return 'absent';
  const stamp = join(modules, stampName);
  if (!existsSync(stamp)) return 'unfinished';
  return readFileSync(stamp, 'utf8').trim() === lockDigest(root) ? 'complete' : 'other-lock';
}

const why = 'the harness and the platform are built from the packages that package-lock.json names';

/** @type {import('./steps.mjs').Step} */
export const packages = {
  name: 'packages',
  why,
  command: 'npm ci --ignore-scripts',
  check() {
    const state = packagesState(repoRoot);
    if (state === 'complete') return { ok: true, version: 'as locked', where: 'node_modules' };
    return { ok: false, missing: `npm packages (${state})` };
  },
  async cure() {
    const npm = which('npm');
    if (npm === null) {
      throw new SetupError({
        missing: 'npm',
        why,
        command: 'install Node.js with npm (Debian: apt-get install npm)',
      });
    }
    const digest = lockDigest(repoRoot);
    const modules = join(repoRoot, 'node_modules');
    const logFile = join(stateDir(), 'npm.log');
    await withProgress('packages: npm ci', async () => {
      // npm runs this very command through a script at times; its settings for that run are not
      // ours.
      const result = await run(npm, ['ci', '--ignore-scripts', '--no-audit', '--no-fund'], {
        cwd: repoRoot,
        logFile,
      });
      if (result.code !== 0) {
        rmSync(modules, { recursive: true, force: true });
        const detail = lastLines(result.stderr, 15);
        throw new SetupError({
          missing: 'npm packages (npm ci failed)',
          why,
          command: packages.command,
          detail,
        });
      }
      writeFileSync(join(modules, stampName), `${digest}\n`);
    });
  },
};
