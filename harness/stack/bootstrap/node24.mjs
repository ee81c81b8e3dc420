// Node 24 runs the TypeScript sources natively. It comes with the packages on Linux; elsewhere from
// the system.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { repoRoot, run, SetupError, which } from './machine.mjs';

const why = 'the sources are TypeScript that Node 24 runs as it is';
const command = 'install Node.js 24 or newer and put it first on PATH';

/** @param {string} version such as v24.21.0 */
export const isNewEnough = (version) => Number(/^v?(\d+)\./.exec(version)?.[1] ?? 0) >= 24;

/** @returns {Promise<{ path: string, version: string } | null>} */
export async function findNode24() {
  const own = join(repoRoot, 'node_modules', '.bin', 'node');
  const candidates = [existsSync(own) ? own : null, which('node')];
  for (const path of candidates) {
    if (path === null) continue;
    const { code, stdout } = await run(path, ['--version'], { deadlineMs: 10_000 });
    if (code === 0 && isNewEnough(stdout)) return { path, version: stdout.trim() };
  }
  return null;
}

/** @type {import('./steps.mjs').Step} */
export const node24 = {
  name: 'node 24',
  why,
  command,
  async check() {
    const found = await findNode24();
    return found === null
      ? { ok: false, missing: 'Node 24 (comes with the packages on Linux)' }
      : { ok: true, version: found.version, where: found.path };
  },
  cure() {
    throw new SetupError({
      missing: `Node 24 for ${process.platform} ${process.arch}`,
      why,
      command,
    });
  },
};
