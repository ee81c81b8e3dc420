// Tags, the package closure and the pruning of images: the pure parts of harness/stack/images.
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import {
  imageNames,
  imageSpecs,
  imageTags,
  treeDigest,
  withParents,
} from '../../harness/stack/images/catalogue.ts';
import { closure, type LockFile, runtimeFingerprint } from '../../harness/stack/images/closure.ts';
import { staleTags } from '../../harness/stack/images/docker.ts';

let root = '';
function put(path: string, content: string, mode = 0o644): void {
  const file = join(root, path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, content);
  chmodSync(file, mode);
}

const packages = (extra: LockFile['packages'] = {}): LockFile => ({
  packages: {
    'node_modules/ws': { version: '1.0.0', integrity: 'a' },
    'node_modules/ioredis': { version: '1.0.0', dependencies: { debug: '1' } },
    'node_modules/debug': { version: '2.0.0', dependencies: { ms: '1' } },
    'node_modules/ioredis/node_modules/debug': { version: '1.0.0', dependencies: { ms: '1' } },
    'node_modules/ms': { version: '1.0.0' },
    'node_modules/pty': {
      version: '1.0.0',
      optionalDependencies: { 'pty-x64': '1', 'pty-mac': '1', absent: '1' },
    },
    'node_modules/pty-x64': { version: '1.0.0', os: ['linux'], cpu: ['x64'] },
    'node_modules/pty-mac': { version: '1.0.0', os: ['darwin'] },
    ...extra,
  },
});

const runtime = () => {
  const names = [
    'postgres',
    '@peculiar/x509',
    'reflect-metadata',
    '@lydell/node-pty',
    '@xterm/xterm',
    '@xterm/addon-fit',
  ];
  return packages(
    Object.fromEntries(names.map((name) => [`node_modules/${name}`, { version: '1.0.0' }])),
  );
};

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'images-test-'));
  put('package-lock.json', JSON.stringify(runtime()));
  put('fixtures/images/base/Dockerfile', 'FROM x');
  put('fixtures/images/services/Dockerfile', 'FROM y');
  put('fixtures/images/browser/start.sh', 'exec chromium', 0o755);
  put('fixtures/gpuaas/api/main.ts', 'export {}');
  put('fixtures/gpuaas/links/entrypoint.sh', 'exec x');
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

function changedBy(edit: () => void): string[] {
  const before = imageTags(root);
  edit();
  const after = imageTags(root);
  return imageNames.filter((name) => before[name] !== after[name]);
}

describe('image tags', () => {
  test('have the form name:digest and stay the same for the same sources', () => {
    const tags = imageTags(root);
    for (const name of imageNames) expect(tags[name]).toMatch(new RegExp(`^${name}:[0-9a-f]{8}$`));
    expect(imageTags(root)).toEqual(tags);
  });

  test.each([
    ['fixtures/gpuaas/api/main.ts', ['gpuaas-services', 'gpuaas-node']],
    ['fixtures/gpuaas/links/entrypoint.sh', ['gpuaas-services', 'gpuaas-node', 'gpuaas-toxiproxy']],
    ['fixtures/images/services/Dockerfile', ['gpuaas-services']],
    ['fixtures/images/base/Dockerfile', imageNames.filter((name) => name !== 'gpuaas-runtime')],
    ['fixtures/README', []],
  ])('an edit of %s changes exactly its images', (path, images) => {
    expect(changedBy(() => put(path, 'edited'))).toEqual(images);
  });

  test('a new version of a runtime package changes the runtime and what copies it, nothing else', () => {
    const lock = runtime();
    lock.packages['node_modules/postgres'] = { version: '1.0.1' };
    const changed = changedBy(() => put('package-lock.json', JSON.stringify(lock)));
    expect(changed).toEqual(['gpuaas-runtime', 'gpuaas-services', 'gpuaas-node']);
  });

  test('a package that the platform does not need changes nothing', () => {
    const lock = runtime();
    lock.packages['node_modules/typescript'] = { version: '7.0.0' };
    expect(changedBy(() => put('package-lock.json', JSON.stringify(lock)))).toEqual([]);
  });

  test('a lost executable bit counts, the time of a file does not', () => {
    expect(
      changedBy(() => put('fixtures/images/browser/start.sh', 'exec chromium', 0o644)),
    ).toEqual(['gpuaas-browser']);
    expect(
      changedBy(() => put('fixtures/images/browser/start.sh', 'exec chromium', 0o644)),
    ).toEqual([]);
  });

  test('content that moves from one file to the next is a change', () => {
    put('a/one', 'xy');
    put('a/two', 'z');
    const before = treeDigest(root, ['a']);
    put('a/one', 'x');
    put('a/two', 'yz');
    expect(treeDigest(root, ['a'])).not.toBe(before);
  });

  test('parents are built before their children, and unwanted images are not', () => {
    expect(withParents(['gpuaas-node'])).toEqual(['gpuaas-base', 'gpuaas-runtime', 'gpuaas-node']);
    expect(withParents(['gpuaas-browser'])).toEqual(['gpuaas-base', 'gpuaas-browser']);
    for (const name of imageNames) {
      for (const parent of imageSpecs[name].parents) {
        expect(imageNames.indexOf(parent)).toBeLessThan(imageNames.indexOf(name));
      }
    }
  });

  test('pruning names old digests of this image only, never the plain name', () => {
    const present = [
      'gpuaas-node:1',
      'gpuaas-node:2',
      'gpuaas-node:latest',
      'gpuaas-nodes:1',
      'gpuaas-base:1',
    ];
    expect(staleTags(present, 'gpuaas-node', 'gpuaas-node:2')).toEqual(['gpuaas-node:1']);
  });
});

describe('package closure', () => {
  test('takes the nested copy of a package for the one that asks, as Node would', () => {
    expect(closure(packages(), ['ioredis'], 'x64')).toEqual([
      'node_modules/ioredis',
      'node_modules/ioredis/node_modules/debug',
      'node_modules/ms',
    ]);
  });

  test('takes optional packages for Linux and this processor only', () => {
    expect(closure(packages(), ['pty'], 'x64')).toEqual([
      'node_modules/pty',
      'node_modules/pty-x64',
    ]);
    expect(closure(packages(), ['pty'], 'arm64')).toEqual(['node_modules/pty']);
  });

  test('ends for packages that need each other', () => {
    const circle = packages({
      'node_modules/ms': { version: '1.0.0', dependencies: { debug: '1' } },
    });
    expect(closure(circle, ['debug'], 'x64')).toEqual(['node_modules/debug', 'node_modules/ms']);
  });

  test('a needed package that the lock lacks is an error that names it', () => {
    const lock = packages({ 'node_modules/ms': { version: '1.0.0', dependencies: { gone: '1' } } });
    expect(() => closure(lock, ['debug'], 'x64')).toThrow(/no gone, which node_modules\/ms needs/);
  });

  test('the fingerprint follows integrity, not only the version', () => {
    const other = runtime();
    other.packages['node_modules/ws'] = { version: '1.0.0', integrity: 'b' };
    expect(runtimeFingerprint(other, 'x64')).not.toBe(runtimeFingerprint(runtime(), 'x64'));
  });
});
