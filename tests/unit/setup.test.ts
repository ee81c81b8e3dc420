// The pure parts of the bootstrap: mirrors, stamps, pid files, words on the command line, doctor's
// output.
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import {
  debianMirror,
  readAptSources,
  securityMirror,
  sourceEntry,
} from '../../harness/stack/bootstrap/apt.mjs';
import { renderText, rowOf } from '../../harness/stack/bootstrap/doctor.mjs';
import { engineCure, removeStalePidFile } from '../../harness/stack/bootstrap/engine.mjs';
import { run, SetupError, which } from '../../harness/stack/bootstrap/machine.mjs';
import { isNewEnough } from '../../harness/stack/bootstrap/node24.mjs';
import { lockDigest, packagesState } from '../../harness/stack/bootstrap/packages.mjs';
import { purposeOf } from '../../harness/stack/bootstrap/setup.mjs';
import { purposes, steps } from '../../harness/stack/bootstrap/steps.mjs';

let dir = '';
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'setup-test-'));
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

describe('the mirror that this machine uses', () => {
  test.each([
    ['one-line form', 'deb http://mirror.test/debian bookworm main'],
    [
      'one-line form with options',
      'deb [arch=amd64 signed-by=/k.gpg] http://mirror.test/debian/ bookworm main',
    ],
    ['deb822 form', 'Types: deb\nURIs: http://mirror.test/debian\nSuites: bookworm\n'],
    [
      'after a vendor',
      'deb https://vendor.test/apt stable main\ndeb http://mirror.test/debian bookworm main',
    ],
    [
      'after the security archive',
      'URIs: http://mirror.test/debian-security\nURIs: http://mirror.test/debian',
    ],
  ])('%s', (_form, text) => {
    expect(debianMirror([text])).toBe('http://mirror.test/debian');
  });

  test.each([
    ['commented out', '# deb http://mirror.test/debian bookworm main'],
    ['sources only', 'deb-src http://mirror.test/debian bookworm main'],
    ['Ubuntu', 'deb http://mirror.test/ubuntu noble main'],
    ['nothing', ''],
  ])('%s: the official archive', (_form, text) => {
    expect(debianMirror([text])).toBe('http://deb.debian.org/debian');
  });

  test('is read from both places, and files of other kinds are left alone', () => {
    mkdirSync(join(dir, 'sources.list.d'));
    writeFileSync(join(dir, 'sources.list'), 'one');
    writeFileSync(join(dir, 'sources.list.d', 'b.sources'), 'two');
    writeFileSync(join(dir, 'sources.list.d', 'b.sources.bak'), 'old');
    expect(readAptSources(dir)).toEqual(['one', 'two']);
  });

  test('another suite comes from the same mirror', () => {
    const entry = sourceEntry('http://mirror.test/debian', 'trixie');
    expect(entry).toContain('URIs: http://mirror.test/debian\nSuites: trixie\n');
    expect(securityMirror('http://mirror.test/debian')).toBe('http://mirror.test/debian-security');
  });
});

describe('the stamp of the packages', () => {
  test('goes from absent over unfinished to complete, and notices another lock', () => {
    writeFileSync(join(dir, 'package-lock.json'), '{}');
    expect(packagesState(dir)).toBe('absent');
    mkdirSync(join(dir, 'node_modules'));
    expect(packagesState(dir)).toBe('unfinished');
    writeFileSync(join(dir, 'node_modules', '.hopdrill-stamp'), `${lockDigest(dir)}\n`);
    expect(packagesState(dir)).toBe('complete');
    writeFileSync(join(dir, 'package-lock.json'), '{ }');
    expect(packagesState(dir)).toBe('other-lock');
  });
});

describe('the pid file of an engine', () => {
  const pidFile = () => join(dir, 'docker.pid');
  const process = (pid: string, comm: string) => {
    mkdirSync(join(dir, pid));
    writeFileSync(join(dir, pid, 'comm'), `${comm}\n`);
  };

  test.each([
    ['of a running engine stays', 'dockerd', false],
    ['whose number another program has is removed', 'bash', true],
    ['of a process that is gone is removed', null, true],
  ])('%s', (_title, comm, removed) => {
    writeFileSync(pidFile(), '4711\n');
    if (comm !== null) process('4711', comm);
    expect(removeStalePidFile(pidFile(), dir)).toBe(removed);
    expect(existsSync(pidFile())).toBe(!removed);
  });

  test('that does not exist is nothing to do', () => {
    expect(removeStalePidFile(pidFile(), dir)).toBe(false);
  });
});

test('a refusal for lack of rights is cured by rights, any other by a start', () => {
  expect(engineCure('permission denied while trying to connect', 'start it', '')).toContain(
    'usermod -aG docker',
  );
  expect(engineCure('Cannot connect to the Docker daemon', 'start it', '')).toBe('start it');
  expect(engineCure('Cannot connect to the Docker daemon', 'start it', 'tcp://far:2375')).toContain(
    'tcp://far:2375, or unset',
  );
});

describe('words on the command line', () => {
  test.each([
    [[], 'test'],
    [['--for', 'check'], 'check'],
    [['--for=chaos'], 'chaos'],
    [['--for'], null],
    [['--for', 'nothing'], null],
    [['--for', 'toString'], null],
    [['check'], null],
    [['--for', 'check', 'more'], null],
  ])('%j', (args, purpose) => {
    expect(purposeOf(args)).toBe(purpose);
  });

  test('every purpose names steps that exist, and checks need no engine', () => {
    const names = steps.map((step) => step.name);
    for (const needed of Object.values(purposes))
      expect(names).toEqual(expect.arrayContaining(needed));
    expect(purposes.check).not.toContain('docker engine');
    expect(purposes.test).toContain('docker engine');
  });
});

describe('small things', () => {
  test.each([
    ['v24.0.0', true],
    ['v25.1.0\n', true],
    ['v23.11.1', false],
    ['v20.20.2', false],
    ['', false],
  ])('version %j: new enough %s', (version, enough) => {
    expect(isNewEnough(version)).toBe(enough);
  });

  test('a command that does not exist, one that fails and one that hangs are told apart', async () => {
    expect(await run('no-such-command', [])).toMatchObject({ code: 127, timedOut: false });
    expect(await run('sh', ['-c', 'echo out; echo err >&2; exit 3'])).toMatchObject({
      code: 3,
      stdout: 'out\n',
      stderr: 'err\n',
    });
    expect(await run('sleep', ['20'], { deadlineMs: 100 })).toMatchObject({ timedOut: true });
  });

  test('a program is looked for on the given path only', () => {
    writeFileSync(join(dir, 'tool'), '', { mode: 0o755 });
    writeFileSync(join(dir, 'text'), '', { mode: 0o644 });
    expect(which('tool', `/nowhere:${dir}`)).toBe(join(dir, 'tool'));
    expect(which('text', dir)).toBeNull();
    expect(which('tool', '')).toBeNull();
  });

  test('an error says what is missing, why it is needed and what cures it', () => {
    const error = new SetupError({
      missing: 'a thing',
      why: 'a reason',
      command: 'a command',
      detail: 'last line',
    });
    expect(error.message).toBe(
      'missing: a thing\nlast line\nneeded:  a reason\ncure:    a command',
    );
    expect(error.exitCode).toBe(69);
  });
});

describe('doctor', () => {
  const step = {
    name: 'docker engine',
    why: 'a reason',
    command: 'start it',
    check: () => ({ ok: false as const, missing: '' }),
    cure() {},
  };

  test('found, missing and not needed are different rows', () => {
    expect(rowOf(step, { ok: true, version: '20.10', where: 'here' }, 'test')).toMatchObject({
      status: 'found',
      version: '20.10',
    });
    expect(rowOf(step, { ok: false, missing: 'an engine' }, 'test')).toMatchObject({
      status: 'missing',
      how: 'start it',
    });
    expect(rowOf(step, { ok: false, missing: 'an engine' }, 'check')).toMatchObject({
      status: 'not-needed',
    });
  });

  test('the text aligns names, and says for each missing part why and how to get it', () => {
    const text = renderText([
      { name: 'packages', status: 'found', version: 'as locked', where: 'node_modules', why: 'x' },
      rowOf(step, { ok: false, missing: 'an engine that answers' }, 'test'),
      { name: 'java', status: 'not-needed', why: 'no part uses it' },
    ]);
    expect(text).toBe(
      [
        'found       packages       as locked, node_modules',
        'missing     docker engine  an engine that answers',
        '                           why: a reason',
        '                           get: start it',
        'not needed  java           no part uses it',
        '',
        '1 missing. "hopdrill setup" brings about what it can; "get:" is the way by hand.',
        '',
      ].join('\n'),
    );
  });

  test('with nothing missing it says so', () => {
    const text = renderText([
      { name: 'packages', status: 'found', version: '1', where: 'here', why: 'x' },
    ]);
    expect(text).toContain('Everything needed is there.');
    expect(text).not.toContain('missing');
  });
});
