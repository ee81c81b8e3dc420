// Tags, the package closure and the pruning of images: the pure parts of harness/stack/images.
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import {
  imagesOf,
  imagesOfAll,
  imageTags,
  treeDigest,
} from '../../harness/stack/images/catalogue.ts';
import { closure, type LockFile, runtimeFingerprint } from '../../harness/stack/images/closure.ts';
import { staleTags } from '../../harness/stack/images/docker.ts';
import { readStackFile } from '../../harness/stack/read-declaration.ts';

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

const composeFile = `
services:
  api: { image: mine-services }
  links: { image: 'hopdrill-toxiproxy:\${HOPDRILL_TOXIPROXY_TAG:-latest}' }
x-hopdrill:
  options: { page: { help: with a page } }
  images:
    mine-runtime: { packages: [ws], folder: /opt/mine }
    mine-services:
      from: { BASE: hopdrill-base, RUNTIME: mine-runtime }
      dockerfile: services/Dockerfile
      context: .
      inputs: [sources]
    mine-page:
      option: page
      from: { SERVICES: mine-services }
      dockerfile: page/Dockerfile
      context: page
      inputs: [page]
  profile: {}
`;
const read = () => readStackFile(join(root, 'compose.yaml'));

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'images-test-'));
  put('compose.yaml', composeFile);
  put('services/Dockerfile', 'FROM x');
  put('page/Dockerfile', 'FROM y');
  put('page/start.sh', 'exec chromium', 0o755);
  put('sources/api/main.ts', 'export {}');
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

function changedBy(edit: () => void): string[] {
  const specs = () => imagesOfAll([read()]);
  const before = imageTags(specs());
  edit();
  const after = imageTags(specs());
  return Object.keys(before).filter((name) => before[name] !== after[name]);
}

describe('image tags', () => {
  test('have the form name:digest and stay the same for the same sources', () => {
    const tags = imageTags(imagesOfAll([read()]));
    expect(Object.keys(tags)).toHaveLength(5);
    for (const [name, tag] of Object.entries(tags))
      expect(tag).toMatch(new RegExp(`^${name}:[0-9a-f]{8}$`));
    expect(imageTags(imagesOfAll([read()]))).toEqual(tags);
  });

  test.each([
    ['sources/api/main.ts', ['mine-services', 'mine-page']],
    ['services/Dockerfile', ['mine-services', 'mine-page']],
    ['page/Dockerfile', ['mine-page']],
    ['README', []],
  ])('an edit of %s changes exactly its images', (path, images) => {
    expect(changedBy(() => put(path, 'edited'))).toEqual(images);
  });

  test('another package changes the image of packages and what is made from it, nothing else', () => {
    const other = composeFile.replace('[ws]', '[ws, zod]');
    expect(changedBy(() => put('compose.yaml', other))).toEqual([
      'mine-runtime',
      'mine-services',
      'mine-page',
    ]);
  });

  test('a lost executable bit counts, the time of a file does not', () => {
    const loseIt = () => put('page/start.sh', 'exec chromium', 0o644);
    expect(changedBy(loseIt)).toEqual(['mine-page']);
    expect(changedBy(loseIt)).toEqual([]);
  });

  test('content that moves from one file to the next is a change', () => {
    put('a/one', 'xy');
    put('a/two', 'z');
    const before = treeDigest(root, ['a']);
    put('a/one', 'x');
    put('a/two', 'yz');
    expect(treeDigest(root, ['a'])).not.toBe(before);
  });

  test('an image is built after what it is made from, and only with the option that wants it', () => {
    const namesWith = (options: string[]) => imagesOf(read(), options).map(({ name }) => name);
    const always = ['hopdrill-base', 'hopdrill-toxiproxy', 'mine-runtime', 'mine-services'];
    expect(namesWith([])).toEqual(always);
    expect(namesWith(['page'])).toEqual([...always, 'mine-page']);
  });

  test('pruning names old digests of this image only, never the plain name', () => {
    const present = [
      'mine-page:1',
      'mine-page:2',
      'mine-page:latest',
      'mine-pages:1',
      'mine-base:1',
    ];
    expect(staleTags(present, 'mine-page', 'mine-page:2')).toEqual(['mine-page:1']);
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
    const other = packages({ 'node_modules/ws': { version: '1.0.0', integrity: 'b' } });
    const fingerprint = (lock: LockFile) => runtimeFingerprint(lock, ['ws'], 'x64');
    expect(fingerprint(other)).not.toBe(fingerprint(packages()));
  });
});
