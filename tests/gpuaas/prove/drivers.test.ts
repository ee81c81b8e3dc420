/** The drivers against real targets: what they refuse, what they bound, what they see. */
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createServer as createTcp } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openDbLog } from '../../../harness/drivers/db-log.ts';
import { openDbSlots, slotOf } from '../../../harness/drivers/db-slots.ts';
import { openDocker } from '../../../harness/drivers/docker.ts';
import { connectSsh, type SshTarget } from '../../../harness/drivers/ssh.ts';
import { openToxiproxy } from '../../../harness/drivers/toxiproxy.ts';
import { watchedDatabase } from '../../../harness/records/profile.ts';
import { freshRun, stack, stackProfile } from '../support/undo.ts';

describe.skipIf(stack === '')('ssh', () => {
  const target = (): SshTarget => {
    return stackProfile().nodes['node-1']!.ssh!;
  };
  const hostsFile = (text: string): string => {
    const file = join(mkdtempSync(join(tmpdir(), 'hosts-')), 'known_hosts');
    writeFileSync(file, text);
    return file;
  };

  test('refuses a host whose key is not pinned, and one whose key has changed', async () => {
    await expect(connectSsh({ ...target(), knownHostsFile: hostsFile('') })).rejects.toMatchObject({
      code: 'unknown_host_key',
    });
    await expect(connectSsh({ ...target(), knownHostsFile: '/nonexistent' })).rejects.toMatchObject(
      { code: 'unknown_host_key' },
    );
    const other = readFileSync(target().knownHostsFile, 'utf8').replaceAll(
      /(AAAA\S{40})\S{4}/g,
      '$1AAAA',
    );
    await expect(
      connectSsh({ ...target(), knownHostsFile: hostsFile(other) }),
    ).rejects.toMatchObject({ code: 'changed_host_key' });
  });

  test('a hundred commands, five at once, and each answer belongs to its question', async () => {
    const connection = await connectSsh(target());
    const words = Array.from({ length: 100 }, (_, index) => `it's "${index}" $HOME`);
    const answers = await Promise.all(words.map((word) => connection.exec(['printf', '%s', word])));
    expect(answers.map((answer) => answer.stdout)).toEqual(words);
    expect(
      await connection.exec(['sh', '-c', 'cat; echo e >&2; kill -9 $$'], { stdin: 'in' }),
    ).toMatchObject({
      stdout: 'in',
      stderr: 'e\n',
      signal: expect.stringMatching(/KILL/),
    });
    await expect(connection.exec(['sleep', '5'], { timeoutMs: 300 })).rejects.toMatchObject({
      code: 'timeout',
    });
    connection.close();
  });

  test('nobody there, and somebody who never speaks', async () => {
    const mute = createTcp(() => {}).listen(0, '127.0.0.1');
    await new Promise((resolve) => mute.once('listening', resolve));
    const { port } = mute.address() as AddressInfo;
    const key = readFileSync(target().knownHostsFile, 'utf8')
      .trim()
      .split(/\s+/)
      .slice(1, 3)
      .join(' ');
    const knownHostsFile = hostsFile(`[127.0.0.1]:${port} ${key}\n[127.0.0.1]:1 ${key}\n`);
    await expect(
      connectSsh({ ...target(), host: '127.0.0.1', port, knownHostsFile, timeoutMs: 500 }),
    ).rejects.toMatchObject({
      code: expect.stringMatching(/timeout|unreachable/),
    });
    await expect(
      connectSsh({ ...target(), host: '127.0.0.1', port: 1, knownHostsFile }),
    ).rejects.toMatchObject({ code: 'refused' });
    mute.close();
  });
});

describe.skipIf(stack === '')('docker', () => {
  test('keeps the streams apart, takes stdin, names what is missing', async () => {
    const docker = openDocker();
    const { container } = stackProfile().parts.api!;
    expect(
      await docker.exec(container, ['sh', '-c', 'cat; echo err >&2; exit 7'], { stdin: 'in' }),
    ).toEqual({
      code: 7,
      stdout: 'in',
      stderr: 'err\n',
    });
    const large = await docker.exec(container, [
      'sh',
      '-c',
      'head -c 3000000 /dev/zero | tr "\\0" x',
    ]);
    expect(large.stdout.length).toBe(3_000_000);
    await expect(docker.exec(container, ['sleep', '5'], { timeoutMs: 300 })).rejects.toMatchObject({
      code: 'timeout',
    });
    await expect(docker.inspect('no-such-container')).rejects.toMatchObject({
      code: 'missing',
      status: 404,
    });
    expect(await docker.logsSince(container, new Date(Date.now() - 3_600_000))).toMatch(
      /"part":"api"/,
    );
    expect(await docker.logsSince(container, new Date(Date.now() + 60_000))).toBe('');
  });
});

describe.skipIf(stack === '')('toxiproxy', () => {
  const url = (): string => stackProfile().links!.toxiproxy;

  test('says what the server says, and refuses what it would swallow', async () => {
    const toxiproxy = openToxiproxy(url());
    expect(await toxiproxy.version()).toContain('2.12.0');
    await expect(toxiproxy.read('no/such proxy')).rejects.toThrow(/404 .*not found/);
    const toxic = { name: 'hopdrill-x', stream: 'downstream', toxicity: 1 } as const;
    await expect(
      toxiproxy.addToxic('api.db', { ...toxic, type: 'latency', attributes: { latncy: 1 } }),
    ).rejects.toThrow('no attribute latncy');
    await expect(
      toxiproxy.addToxic('api.db', { ...toxic, type: 'latncy', attributes: {} }),
    ).rejects.toThrow('no toxic is called');
    expect((await toxiproxy.removeToxic('api.db', 'not-there')).toxics).toEqual([]);
  });

  test('a server that hangs is given up', async () => {
    const hanging = createServer(() => {}).listen(0, '127.0.0.1');
    await new Promise((resolve) => hanging.once('listening', resolve));
    const toxiproxy = openToxiproxy(`http://127.0.0.1:${(hanging.address() as AddressInfo).port}`, {
      deadlineMs: 200,
    });
    const start = performance.now();
    await expect(toxiproxy.read('p')).rejects.toMatchObject({ code: 'timeout' });
    expect(performance.now() - start).toBeLessThan(1500);
    hanging.closeAllConnections();
    hanging.close();
  });
});

describe.skipIf(stack === '')('the write log', () => {
  const run = freshRun('db');
  const database = () => {
    return watchedDatabase(stackProfile())!;
  };
  const log = openDbLog(database(), run);
  beforeAll(() => log.createTemporarySlot());
  afterAll(async () => {
    await log.close();
    const slots = openDbSlots(database());
    expect((await slots.list()).map(({ name }) => name)).not.toContain(slotOf(run));
    await slots.close();
  });
  const byHand = async (sql: string): Promise<void> => {
    const { container } = stackProfile().parts.db!;
    const psql =
      'exec setpriv --reuid postgres --regid postgres --clear-groups psql -v ON_ERROR_STOP=1 -d gpuaas -c "$1"';
    const ran = await openDocker().exec(container, ['sh', '-c', psql, 'x', sql]);
    expect(ran.stderr + ran.stdout, sql).not.toMatch(/ERROR|FATAL/);
    expect(ran.code).toBe(0);
  };

  test('the platform alone: every transaction has its row, and the row a writer', async () => {
    const since = await log.cursor();
    await log.auditSince(since);
    await new Promise((resolve) => setTimeout(resolve, 3000));
    const audit = await log.auditSince(since);
    expect(audit.rows.length).toBeGreaterThan(0);
    expect(audit.unattributed).toEqual([]);
    expect([...new Set(audit.rows.map((row) => row.application_name))].sort()).not.toContain(null);
  });

  test.each([
    ['a plain statement', "update nodes set lifecycle = lifecycle where node_id = 'node-2'"],
    [
      'WITH',
      "with done as (update nodes set lifecycle = lifecycle where node_id = 'node-2' returning 1) select * from done",
    ],
    ['DO', "do $x$ begin update nodes set lifecycle = lifecycle where node_id = 'node-2'; end $x$"],
    [
      'triggers switched off',
      "set session_replication_role = replica; update nodes set lifecycle = lifecycle where node_id = 'node-2'",
    ],
    [
      'a table of its own',
      'create table stray (x int); insert into stray values (1); drop table stray',
    ],
  ])('a hand that writes by %s is seen', async (how, sql) => {
    const since = await log.cursor();
    await log.auditSince(since);
    await byHand(sql);
    const audit = await log.auditSince(since);
    const hand = audit.rows.filter((row) => row.session_user === 'postgres');
    // Who has no trigger to pass leaves no row; the decoding slot sees the transaction all the
    // same.
    if (how === 'a table of its own') expect(audit.unattributed.length).toBeGreaterThan(0);
    else expect(hand[0]).toMatchObject({ op: 'UPDATE', table_name: 'nodes' });
  });
});
