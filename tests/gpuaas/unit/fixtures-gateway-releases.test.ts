import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join, resolve } from 'node:path';
import { beforeAll, expect, test } from 'vitest';

const root = resolve(import.meta.dirname, '../../..');
const sources = join(root, 'fixtures/gpuaas');
const parts = ['gateway', 'console'];
const built = mkdtempSync(join(tmpdir(), 'releases-'));

/** Without the tolerance that `patch` has. */
const applies = (patch: string): void => {
  execFileSync('git', ['apply', '--check', '--unsafe-paths', `--directory=${sources}`, patch], {
    cwd: tmpdir(),
  });
};

beforeAll(() => {
  const path = `${dirname(process.execPath)}${delimiter}${process.env.PATH ?? ''}`;
  execFileSync(
    'sh',
    [join(sources, 'releases/build.sh'), sources, built, join(root, 'node_modules')],
    {
      env: { ...process.env, PATH: path },
    },
  );
});

test.each(
  parts.flatMap((part) => readdirSync(join(sources, part, 'releases')).map((name) => [part, name])),
)('%s: %s applies to the current sources', (part, name) => {
  applies(join(sources, part as string, 'releases', name as string));
});

test('every release has a name, a version and a digest of its own', () => {
  const manifests = readdirSync(built).map(
    (name) =>
      JSON.parse(readFileSync(join(built, name, 'release.json'), 'utf8')) as Record<string, string>,
  );
  expect(manifests.map((manifest) => manifest.name).sort()).toEqual([
    'console-2026-04',
    'console-current',
    'gateway-2026-04',
    'gateway-current',
  ]);
  expect(new Set(manifests.map((manifest) => manifest.sha256)).size).toBe(4);
});

test('releases hold compiled sources that parse, and none of the patches', () => {
  const files = readdirSync(built, { recursive: true, encoding: 'utf8' });
  expect(files.filter((file) => file.endsWith('.ts') || file.endsWith('.patch'))).toEqual([]);
  // The files that the patches touch; the rest is the current source.
  for (const file of [
    'gateway-2026-04/gateway/binding.js',
    'gateway-2026-04/gateway/session.js',
    'console-2026-04/connection.js',
  ]) {
    execFileSync(process.execPath, ['--check', join(built, file)]);
  }
}, 60_000);
