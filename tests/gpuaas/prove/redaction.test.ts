// Secrets are planted where a platform really leaks them; then everything that was written and
// printed is searched for them.
import { globSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { execa } from 'execa';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { root } from '../../../harness/cli/select.ts';
import { profileFileOf } from '../../../harness/stack/state.ts';
import { outDir, readFolders } from '../../../reports/records.ts';
import {
  byHand,
  container,
  docker,
  hopdrill,
  profileOfSuite,
  stackOfSuite,
} from '../support/proof.ts';

/**
 * The tail of each is what is searched for: a secret that is cut in the middle has leaked as well.
 */
const canary = (kind: string): string => `canary${kind}${Math.random().toString(36).slice(2, 12)}`;
const secrets = {
  token: canary('token'),
  cookie: canary('cookie'),
  key: canary('keybody'),
  password: canary('password'),
  database: canary('dbtail'),
  basic: Buffer.from(`ops:${canary('basic')}`).toString('base64'),
};
const pem = `-----BEGIN ${'PRIVATE'} KEY-----\n${secrets.key}\n-----END ${'PRIVATE'} KEY-----`;
const encodedKey = Buffer.from(pem).toString('base64');
const wanted: Readonly<Record<string, string>> = { ...secrets, encodedKey };

/**
 * As services write it down when they say too much: a request line, headers, an error with its
 * connection string, an environment.
 */
const leak = [
  `GET /ws?token=${secrets.token}&x=1 cookie: session=${secrets.cookie}`,
  `Authorization: Basic ${secrets.basic}`,
  `connect failed: postgres://gpuaas:pass@with-at-${secrets.database}@db:5432/gpuaas`,
  `argv: tool --password ${secrets.password}`,
  `{"access_token":"${secrets.token}","password":"a,${secrets.password}"}`,
  `KEY_B64=${encodedKey}`,
  pem,
].join('\n');
const leakFile = Buffer.from(leak).toString('base64');

const scenario = 'node-agent/service-stopped';
const place = mkdtempSync(join(tmpdir(), 'hopdrill-redaction-'));
const printed: string[] = [];
const written: string[] = [];

/** In the log of a part, and in the journal under the agent's unit. */
function leakBefore(): void {
  byHand('gateway', `echo ${leakFile} | base64 -d > /proc/1/fd/1`);
  const lines = leak
    .split('\n')
    .map((line) => Buffer.from(`MESSAGE=${line}\nOBJECT_PID=`).toString('base64'));
  byHand(
    'node-1',
    `pid=$(systemctl show -P MainPID gpuaas-node-agent); for line in ${lines.join(' ')}; do { echo $line | base64 -d; echo $pid; } | logger --journald; done`,
  );
}

/**
 * In a file that the evidence collects, once the agent cannot rewrite it; and in a statement that
 * the audit will name.
 */
function leakDuring(): void {
  byHand('node-1', `echo ${leakFile} | base64 -d > /var/lib/gpuaas/diagnostics/current.json`);
  byHand(
    'db',
    `psql -q -d gpuaas -c "update nodes set reason = reason where 'password=${secrets.password}' <> '' and node_id = 'node-1'"`,
    'postgres',
  );
}

const patience = { timeout: 60_000, interval: 50 };

const eventsOf = (dir: string): string => {
  try {
    return readFileSync(join(dir, 'events.jsonl'), 'utf8');
  } catch {
    return '';
  }
};

/** Runs a door to the scenario; a hand leaks while it runs. */
async function leaking(argv: readonly string[], env: Record<string, string> = {}): Promise<void> {
  const since = new Date();
  const child = execa('node', argv, {
    cwd: root,
    reject: false,
    all: true,
    stdin: 'ignore',
    env: { NO_COLOR: '1', ...env },
  });
  const dir = await vi.waitFor(() => {
    const own = readFolders(outDir, since).find(({ stack }) => stack === stackOfSuite());
    if (own === undefined) throw new Error('no run folder yet');
    return own.dir;
  }, patience);
  leakBefore();
  await vi.waitFor(() => {
    if (!eventsOf(dir).includes('"stage":"effect","status":"done"'))
      throw new Error('no effect yet');
  }, patience);
  leakDuring();
  const ended = await child;
  printed.push(ended.all);
  written.push(dir);
}

const whole = (): Map<string, string> => {
  const files = [...written, place].flatMap((dir) =>
    globSync('**/*', { cwd: dir }).map((file) => join(dir, file)),
  );
  const texts = files
    .filter((file) => statSync(file).isFile())
    .map((file) => [file, readFileSync(file, 'latin1')] as const);
  return new Map([...texts, ...printed.map((text, index) => [`printed ${index}`, text] as const)]);
};

beforeAll(async () => {
  const stack = stackOfSuite();
  await leaking(['harness/cli/main.ts', 'run', scenario, '--stack', stack, '--json']);
  await leaking(
    [
      'node_modules/vitest/vitest.mjs',
      'run',
      '--project',
      'scenarios',
      'scenarios/gpuaas/node-agent/service-stopped.yaml',
    ],
    {
      HOPDRILL_STACK: stack,
      HOPDRILL_STACKS: stack,
      HOPDRILL_ALLURE_RESULTS: join(place, 'allure'),
    },
  );
  const report = await hopdrill(['report', ...written, '--junit', join(place, 'junit.xml')]);
  printed.push(report.stdout + report.stderr);
});

afterAll(() => rmSync(place, { recursive: true, force: true }));

test('the secrets really were in what the evidence was made of', () => {
  const log = docker('logs', '--tail', '2000', container('gateway'));
  for (const [kind, secret] of Object.entries(wanted)) expect(log, kind).toContain(secret);
});

test('what was planted reached the folder, the reasons, Allure, JUnit and the terminal: as a mark', () => {
  const texts = whole();
  const [first = '', second = ''] = written;
  for (const dir of [first, second]) {
    for (const file of [
      'evidence/log-gateway.txt',
      'evidence/agent-journal.log',
      'evidence/agent-diagnostic.json',
      'verdict.json',
    ])
      expect(texts.get(join(dir, file)), file).toContain('[redacted');
  }
  expect(texts.get(join(place, 'junit.xml'))).toContain('password=[redacted]');
  expect(texts.get('printed 0')).toContain('password=[redacted]');
  expect(texts.get('printed 1')).toContain('password=[redacted]');
  const allure = [...texts].filter(
    ([file]) => file.startsWith(join(place, 'allure')) && file.endsWith('-result.json'),
  );
  expect(allure.map(([, text]) => text).join('\n')).toContain('password=[redacted]');
});

test.each(Object.entries(wanted))('the %s is nowhere', (_kind, secret) => {
  const found = [...whole()].filter(([, text]) => text.includes(secret)).map(([name]) => name);
  expect(found).toEqual([]);
});

describe('the preflight on its own', () => {
  const cookie = `gpuaas_edge=${secrets.cookie}`;
  const argv = [
    'preflight',
    '--api-base',
    `https://ops:in@url-${secrets.password}@127.0.0.1:1`,
    '--node-id',
    'node-1',
  ];

  test.each([['--json'], []])('prints no secret of its input (%s)', async (...more) => {
    const ran = await hopdrill([...argv, ...more], {
      HOPDRILL_OPERATOR_TOKEN: secrets.token,
      HOPDRILL_EDGE_COOKIE: cookie,
    });
    const text = ran.stdout + ran.stderr;
    expect(text).toContain('[redacted');
    for (const secret of [secrets.password, secrets.cookie, secrets.token])
      expect(text).not.toContain(secret);
  });

  test('nor one of the stack', async () => {
    const profile = profileOfSuite();
    const ran = await hopdrill(['preflight', '--profile', profileFileOf(profile.stack), '--json']);
    const own = Object.values(profile.credentials).map((file) => readFileSync(file, 'utf8').trim());
    expect(own).toHaveLength(3);
    expect(own.every((secret) => secret.length > 8)).toBe(true);
    for (const secret of own) expect(ran.stdout + ran.stderr).not.toContain(secret);
  });
});
