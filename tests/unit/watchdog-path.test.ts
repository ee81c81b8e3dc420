import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { execa } from 'execa';
import { afterAll, expect, test } from 'vitest';

const root = resolve(import.meta.dirname, '../..');
const home = mkdtempSync(join(tmpdir(), 'hopdrill-path-'));
afterAll(() => rmSync(home, { recursive: true, force: true }));

test.each(['with a space', 'with 100% and #1', 'mit ü'])(
  'the watchdog starts in a folder %s in its path',
  async (name) => {
    const copy = join(home, name);
    mkdirSync(copy);
    for (const area of ['base', 'undo', 'drivers', 'records'])
      cpSync(join(root, 'harness', area), join(copy, 'harness', area), { recursive: true });
    cpSync(join(root, 'package.json'), join(copy, 'package.json'));
    symlinkSync(join(root, 'node_modules'), join(copy, 'node_modules'));
    const module = pathToFileURL(join(copy, 'harness/undo/watchdog-start.ts')).href;
    const place = { stateDir: join(copy, 'state'), engine: 'e', stack: 's' };
    const script = `const { ensureWatchdog } = await import(${JSON.stringify(module)});
      const pid = await ensureWatchdog(${JSON.stringify(place)});
      process.kill(pid, 0); process.kill(pid); console.log('runs')`;
    const { stdout } = await execa('node', ['--input-type=module', '-e', script]);
    expect(stdout).toBe('runs');
  },
);
