import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { isAlive, self } from '../../../harness/base/owner.ts';
import { shortXid } from '../../../harness/drivers/db-log.ts';
import { pinnedKeys } from '../../../harness/drivers/known-hosts.ts';
import { quoteArgv } from '../../../harness/drivers/ssh.ts';
import { auditRun } from '../../../harness/run-tools/audit-slot.ts';
import { stampOf } from '../../../harness/run-tools/folder.ts';
import { runIdOf } from '../../../harness/run-tools/tools.ts';
import { deadmanProgram } from '../../../harness/undo/deadman.pl.ts';
import { formatLease, secondsLeft } from '../../../harness/undo/lease.ts';
import { LockedError, lock } from '../../../harness/undo/lock.ts';
import { marksOf } from '../../../harness/undo/marks.ts';
import { isRunId, ledgerDir } from '../../../harness/undo/paths.ts';
import { fillAction } from '../../../harness/undo/resolve.ts';
import { markPlaces } from '../support/faults.ts';

const folder = (): string => mkdtempSync(join(tmpdir(), 'undo-'));

describe('lease', () => {
  const now = { boot: 'b', up: 100, wall: 5000 };
  test.each([
    ['uptime decides inside one boot', formatLease('b', 103, 1), 3],
    ['a clock that was turned back does not keep it', formatLease('b', 99, 999_999), -1],
    ['after a reboot the clock decides', formatLease('other', 999_999, 4990), -10],
    ['a torn one is over', 'b 00', -1],
    ['an empty one is over', '', -1],
    ['one that is no number is over', 'b x y', -1],
  ])('%s', (_, text, left) => {
    expect(secondsLeft(text, now)).toBeCloseTo(left, 2);
  });
  test('is always the same length: renewing needs no room', () => {
    expect(formatLease('b', 1, 1).length).toBe(
      formatLease('b', 123_456_789.123, 1_800_000_000).length,
    );
  });
});

describe('lock', () => {
  const place = (stateDir: string) => ({ stateDir, engine: 'e', run: 'run-1' });
  test('names its owner, and is free again after release', () => {
    const dir = folder();
    const held = lock('s', place(dir));
    expect(() => lock('s', place(dir))).toThrow(LockedError);
    expect(() => lock('s', place(dir))).toThrow(`run-1 (pid ${process.pid}`);
    expect(() => lock('other', place(dir)).release()).not.toThrow();
    held.release();
    lock('s', place(dir)).release();
    expect(readdirSync(join(dir, 'locks', 'e'))).toEqual([]);
  });
  test.each([
    ['whose process is gone', { ...self(), pid: 2 ** 22 - 1 }],
    ['whose pid belongs to somebody else now', { ...self(), start_time: '1' }],
    ['of an earlier boot', { ...self(), boot_id: 'earlier' }],
  ])('one %s is taken over and named', (_, owner) => {
    const dir = folder();
    lock('s', place(dir)).release();
    writeFileSync(
      join(dir, 'locks', 'e', 's.lock'),
      JSON.stringify({ owner, run: 'crashed', stack: 's', since: 'then' }),
    );
    const held = lock('s', place(dir));
    expect(held.tookOver?.run).toBe('crashed');
    held.release();
  });
  test('a torn lock file is taken over', () => {
    const dir = folder();
    lock('s', place(dir)).release();
    writeFileSync(join(dir, 'locks', 'e', 's.lock'), '{"own');
    lock('s', place(dir)).release();
  });
  test('we are alive, and a zombie is not', () => {
    expect(isAlive(self())).toBe(true);
    expect(isAlive({ ...self(), boot_id: '' })).toBe(false);
  });
});

describe('words for a remote shell', () => {
  test.each([
    [["a'b"]],
    [['$HOME', '`id`', '"', '\\', '*']],
    [['', ' ']],
    [['a\nb', '\tc']],
    [['-n', '--', 'x=y']],
    [['ünï', '💥']],
  ])('%j come through a shell unchanged', (argv) => {
    const out = execFileSync('sh', ['-c', `printf '%s\\0' ${quoteArgv(argv)}`]).toString();
    expect(out.split('\0').slice(0, -1)).toEqual(argv);
  });
  test('NUL is refused', () => {
    expect(() => quoteArgv(['a\0b'])).toThrow('NUL');
  });
});

describe('pinned host keys', () => {
  const file = [
    '# comment',
    '[127.0.0.1]:2201 ssh-ed25519 AAAA',
    'host,other ssh-rsa BBBB',
    '|1|c2FsdA==|bm8= ssh-rsa CCCC',
    '@revoked host ssh-rsa DDDD',
    'torn',
  ].join('\n');
  test.each([
    ['127.0.0.1', 2201, ['AAAA']],
    ['127.0.0.1', 22, []],
    ['other', 22, ['BBBB']],
    ['host', 22, ['BBBB']],
    ['host', 2222, []],
  ])('%s:%i', (host, port, keys) => {
    expect(pinnedKeys(file, host, port).map((one) => one.key)).toEqual(keys);
  });
});

describe('placeholders', () => {
  const filling = { run: 'r-1', step: 2, snapshots: { file: 'text\n' } };
  test('an argument loses the last newline of a snapshot, stdin keeps it', () => {
    const action = {
      kind: 'sh',
      node: 'n',
      argv: ['x', '{run}:{step}', '{snapshot:file}'],
      stdin: '{snapshot:file}',
      okCodes: [0],
    } as const;
    expect(fillAction({ ...action, argv: [...action.argv], okCodes: [0] }, filling)).toMatchObject({
      argv: ['x', 'r-1:2', 'text'],
      stdin: 'text\n',
    });
  });
  // biome-ignore-start lint/suspicious/noTemplateCurlyInString: a shell's own braces are the point
  test('braces that are none of ours stay, an unknown snapshot is an error', () => {
    const action = (word: string) => ({
      kind: 'docker' as const,
      part: 'p',
      verb: 'exec' as const,
      argv: [word],
      okCodes: [0],
    });
    expect(fillAction(action('${value} {host} {}'), filling)).toMatchObject({
      argv: ['${value} {host} {}'],
    });
    expect(() => fillAction(action('{snapshot:none}'), filling)).toThrow('none');
    // biome-ignore-end lint/suspicious/noTemplateCurlyInString: as above
  });
});

describe('marks on a node', () => {
  test('folders with a valid lease are in use; names that are no run ids are nobody’s', () => {
    const text = [
      'dir run-1 b,105,0',
      'dir run-2 b,99,9999',
      'dir .. b,105,0',
      'rule hopdrill:run-3:0',
      'file /etc/profile.d/hopdrill-run-4-0.sh',
      'file /usr/local/bin/hopdrill-run-4-1-shell',
      'deadman hopdrill-run-5',
      'file /run/systemd/transient/hopdrill-run-6-0-kill.service',
      // A run whose name ends like that of a helper: the file of its dead-man says whose it is.
      'deadman hopdrill-run-7-0-kill',
      'now b,100,5000',
    ].join('\n');
    const marks = marksOf(text, markPlaces.node);
    expect([...marks.keys()].sort()).toEqual([
      'run-1',
      'run-2',
      'run-3',
      'run-4',
      'run-5',
      'run-6',
      'run-7-0-kill',
    ]);
    expect(marks.get('run-6')?.files).toHaveLength(1);
    expect(marks.get('run-7-0-kill')?.files).toEqual([]);
    expect(marks.get('run-1')?.leased).toBe(true);
    expect(marks.get('run-2')?.leased).toBe(false);
  });
});

describe('names and numbers', () => {
  test.each(['../x', 'a/b', '', 'ab', 'x'.repeat(61), '-abc', 'a b c'])(
    '%j is no run id',
    (run) => {
      expect(isRunId(run)).toBe(false);
      expect(() => ledgerDir(folder(), 'e', run)).toThrow('not a run id');
    },
  );
  test('the ledger of an audit is called by a run id too, however long the scenario is called', () => {
    const run = runIdOf(stampOf(new Date()), 'terminal/a-very-long-word-for-what-is-broken-here');
    expect(isRunId(auditRun(run))).toBe(true);
    expect([run, auditRun(run)].sort()).toEqual([run, auditRun(run)]);
  });
  test('transaction ids meet in their low 32 bits', () => {
    expect(shortXid('4294967301')).toBe('5');
    expect(shortXid('5')).toBe('5');
  });
});

describe('the program of the dead-man', () => {
  test('perl understands it, and it refuses what is no run id', () => {
    const file = join(folder(), 'deadman.pl');
    writeFileSync(file, deadmanProgram);
    expect(spawnSync('perl', ['-wc', file]).stderr.toString()).toContain('syntax OK');
    expect(spawnSync('perl', [file, 'serve', '../etc']).stderr.toString()).toContain(
      'not a run id',
    );
    expect(readFileSync(file, 'utf8')).not.toMatch(/use (JSON|IPC::Run|Digest)/);
  });
});
