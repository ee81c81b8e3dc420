// The images as a step. Their making needs packages, so it runs in harness/stack/images.ts under
// Node 24; this file only asks it, and never imports it.

import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { engineVersion } from './engine.mjs';
import { repoRoot, run, SetupError, tied } from './machine.mjs';
import { findNode24 } from './node24.mjs';
import { packagesState } from './packages.mjs';

const why = 'the platform under test runs from images that this repository builds';
const command = './hopdrill setup --for test';
const script = join(repoRoot, 'harness', 'stack', 'images.ts');

/** @type {import('./steps.mjs').Step} */
export const images = {
  name: 'images',
  rounds: 3,
  why,
  command,
  async check() {
    if (packagesState(repoRoot) !== 'complete')
      return { ok: false, missing: 'images (packages come first)' };
    const node = await findNode24();
    if (node === null) return { ok: false, missing: 'images (Node 24 comes first)' };
    if (!(await engineVersion()).ok)
      return { ok: false, missing: 'images (the docker engine comes first)' };
    const { code, stdout, stderr } = await run(node.path, [script, '--missing'], {
      deadlineMs: 60_000,
    });
    if (code !== 0) return { ok: false, missing: `images (${stderr.trim().split('\n').at(-1)})` };
    const names = stdout.trim();
    return names === ''
      ? { ok: true, version: 'up to date with the sources', where: 'docker engine' }
      : { ok: false, missing: `images: ${names.replaceAll('\n', ', ')}` };
  },
  async cure() {
    const node = await findNode24();
    if (node === null || !existsSync(script))
      throw new SetupError({ missing: 'images', why, command });
    const child = tied(spawn(node.path, [script], { stdio: ['ignore', 2, 2], cwd: repoRoot }));
    const code = await new Promise((resolve) => {
      child.on('error', () => resolve(127));
      child.on('close', resolve);
    });
    if (code !== 0) throw new SetupError({ missing: 'images (see above)', why, command });
  },
};
