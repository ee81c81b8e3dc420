// The commands as a person types them, on a machine where no stack is up; nothing here touches a
// platform.
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { execa } from 'execa';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { root } from '../../../harness/cli/select.ts';

const state = mkdtempSync(join(tmpdir(), 'hopdrill-no-stack-'));
const mine = 'docs/your-own-platform/profile.yaml';

async function hopdrill(...argv: string[]): Promise<{ code: number; out: string; err: string }> {
  const ended = await execa('node', ['harness/cli/main.ts', ...argv], {
    cwd: root,
    reject: false,
    stdin: 'ignore',
    env: { NO_COLOR: '1', XDG_STATE_HOME: state },
  });
  return { code: ended.exitCode ?? -1, out: ended.stdout, err: ended.stderr };
}

test('run --dry-run --json: each line is one of the schema, the summary last, and it claims no verdict', async () => {
  const schema = z.fromJSONSchema(
    JSON.parse(readFileSync(join(root, 'harness/records/schemas/run-event.json'), 'utf8')),
  );
  const { code, out } = await hopdrill('run', 'terminal/*', '--dry-run', '--json');
  const events = out
    .split('\n')
    .map((line) => JSON.parse(line) as { event: string; scenario?: string });
  expect(code).toBe(0);
  expect(events.length).toBeGreaterThan(3);
  for (const event of events)
    expect(schema.safeParse(event).error?.issues ?? [], JSON.stringify(event)).toEqual([]);
  expect(
    events
      .slice(0, -1)
      .every((event) => event.event === 'would_run' && event.scenario?.startsWith('terminal/')),
  ).toBe(true);
  expect(events.at(-1)).toEqual({ event: 'summary', verdict: null, results: [] });
});

test('without a name, the scenarios of the platform that is meant, and of no other system', async () => {
  const { code, out } = await hopdrill('run', '--dry-run', '--profile', mine);
  expect(code).toBe(0);
  expect(out).toContain('node-agent/service-stopped');
  expect(out).not.toContain('one-hop');
  expect(
    (await hopdrill('run', 'one-hop', '--dry-run', '--profile', mine)).out,
    'named, it is asked for',
  ).toBe('one-hop/greeting-changed\none-hop/service-cut');
});

test.for([
  ['run --stacks 2 --stack demo', /--stack demo beside --stacks 2/],
  [`run --dry-run --profile ${mine} --stack demo`, /--stack demo beside --profile/],
  [`plan --profile ${mine} --stack demo`, /--stack demo beside --profile/],
  [
    `plan terminal/redis-unavailable node-agent/no-such --profile ${mine}`,
    /no scenario file matches node-agent\/no-such /,
  ],
  ['plan --stack nosuch', /--stack nosuch: no such stack is up/],
  ['plan --profile /nonexistent', /--profile \/nonexistent: no such file/],
  ['undo --profile tests', /--profile tests: no such file/],
  ['undo --stack nosuch', /found: --stack nosuch \| allowed: none is known/],
  ['undo --run nosuch --json', /found: --run nosuch \| allowed: none is known/],
  [
    'stop --stack demo --all --within 3x',
    /found: --stack demo beside --all \|.*\n.*found: --within 3x \| allowed: .* 90s, 2m, 1h/,
  ],
  ['stop --within 500ms', /found: --within 500ms/],
  ['stop --stack nosuch', /found: --stack nosuch \| allowed: none is known/],
  ['preflight --stack nosuch', /--stack nosuch: no such stack is up/],
  ['preflight', /no stack is up/],
  [
    `preflight --profile ${mine} --node node-7`,
    /found: --node node-7 \| allowed: node-1 \| nearest: node-1/,
  ],
  [`preflight --profile ${mine} --node`, /found: --node "" \| allowed: node-1/],
  [
    `preflight --profile ${mine} --node node-1 --node-id node-2`,
    /--node node-1 beside --node-id node-2/,
  ],
  ['run --dry-run --severity P9', /found: --severity P9 \| allowed: P0, P1, P2, P3/],
  [
    'list --severity P9 --tag no-such-tag',
    /--severity P9[\s\S]*found: --tag no-such-tag \| allowed: [a-z]/,
  ],
] as const)('%s: wrong usage, with what is allowed', async ([line, said]) => {
  const { code, out, err } = await hopdrill(...line.split(' '));
  expect([code, out], err).toEqual([64, '']);
  expect(err).toMatch(said);
});

test('a profile with mistakes: all of them at once, each with its place, what was found and what is allowed', async () => {
  const file = join(state, 'mistaken.yaml');
  writeFileSync(
    file,
    `version: 2
system: gpuaas
stack: mine
disposable: maybe
environment: drill
nodes:
  node-1: { ssh: { host: 127.0.0.1, port: "22", user: u, knownHostsFile: k, keyFile: s }, lifeline: { kind: docker, container: c } }
partz: {}
`,
  );
  const { code, err } = await hopdrill('plan', '--profile', file);
  expect(code, err).toBe(64);
  const [, ...lines] = err.split('\n');
  expect(lines).toEqual([
    `${file}:4:13: disposable: found "maybe"; allowed: true or false`,
    `${file}:7:43: nodes.node-1.ssh.port: found "22"; allowed: a number`,
    expect.stringMatching(
      /:8:1: partz: found unknown key "partz"; allowed: version, .*; did you mean "parts"$/,
    ),
  ]);
  const asked = await hopdrill('preflight', '--profile', file, '--json');
  expect([asked.code, (JSON.parse(asked.out) as { error: { code: string } }).error.code]).toEqual([
    64,
    'usage',
  ]);
});

test('a profile of version 1: what each key of it is called now', async () => {
  const file = join(state, 'old.yaml');
  writeFileSync(
    file,
    `version: 1
system: gpuaas
public: { apiBase: 'https://a.test', caFile: ca.crt }
credentials: { edgeCookieFile: c }
nodes:
  node-1: { sshHost: h, agentUnit: u }
databaseNotAudited: nobody may
`,
  );
  const { code, err } = await hopdrill('plan', '--profile', file);
  expect(code, err).toBe(64);
  const lines = err
    .trim()
    .split('\n')
    .slice(1)
    .map((line) => line.replace(`${file}:`, ''));
  const now = (name: string): string => `allowed: what it is called now: ${name}`;
  expect(lines).toEqual([
    '1:10: version: found 1; allowed: 2',
    `3:11: public.apiBase: found public.apiBase; ${now('endpoints.api')}`,
    `3:38: public.caFile: found public.caFile; ${now('connect.caFile')}`,
    `4:16: credentials.edgeCookieFile: found credentials.edgeCookieFile; ${now('credentials.edge-cookie')}`,
    `6:13: nodes.node-1.sshHost: found nodes.node-1.sshHost; ${now('nodes.node-1.ssh.host')}`,
    `6:25: nodes.node-1.agentUnit: found nodes.node-1.agentUnit; ${now('nodes.node-1.agent.unit')}`,
    `7:1: databaseNotAudited: found databaseNotAudited; ${now('database.notAudited')}`,
  ]);
});

test('a profile that its system does not understand: names and facts of the system, all at once', async () => {
  const file = join(state, 'misunderstood.yaml');
  const text = readFileSync(join(root, mine), 'utf8')
    .replace('  terminal: https', '  terminl: https')
    .replace('      allocationUser: gpu-a1\n', '')
    .replace('pageNotSeen: the drill', 'pageUnseen: the drill');
  writeFileSync(file, text);
  const { code, err } = await hopdrill('plan', '--profile', file);
  expect(code, err).toBe(64);
  const at = (word: string): number =>
    text.split('\n').findIndex((line) => line.includes(word)) + 1;
  const lines = err.trim().split('\n').slice(1);
  expect(lines).toEqual([
    expect.stringContaining(`:${at('endpoints:')}:1: endpoints: found no "terminal"; allowed: `),
    expect.stringMatching(
      new RegExp(`:${at('terminl')}:3: .*unknown key "terminl".*did you mean "terminal"$`),
    ),
    expect.stringMatching(
      new RegExp(`:${at('    own:')}:5: nodes.node-1.own: found no "allocationUser"`),
    ),
    expect.stringMatching(
      new RegExp(`:${at('pageUnseen')}:3: own.pageUnseen: found unknown key "pageUnseen"`),
    ),
  ]);
});

test('plan says each action of inject and undo, where it runs, what is cut, felt, and how long it may take', async () => {
  const { code, out } = await hopdrill(
    'plan',
    'node-agent/api-egress-dropped',
    'terminal/public-route-missing',
    '--profile',
    mine,
  );
  expect(code, out).toBe(0);
  const [dropped = '', route = ''] = out.split('\n\n');
  expect(dropped).toMatch(/^ {2}do +sh on node-1: block address and port \(.*\bdrop\b.*\)/m);
  expect(dropped).toMatch(/^ {2}undo +sh on node-1: remove the rules with our tag \(/m);
  expect(dropped).toMatch(/^ {2}cuts +link:node-1\.node-api$/m);
  expect(dropped).toMatch(/^ {2}felt by +node:node-1\n +allocation:alloc-1$/m);
  expect(dropped).toMatch(/^ {2}budget +effect \d+ s, detect \d+ s, .* in all \d+ s$/m);
  expect(route).toMatch(/^ {2}do +docker exec edge: /m);
  expect(route).toMatch(/^ {2}undo +docker exec edge: /m);
});

test("nodes of a platform of one's own: --node chooses, a file may name them, and a missing one is refused, not replaced", async () => {
  const file = join(state, 'worker.yaml');
  writeFileSync(file, readFileSync(join(root, mine), 'utf8').replace('  node-1:', '  worker-7:'));
  const own = join(state, 'own-node.yaml');
  const stopped = readFileSync(
    join(root, 'scenarios/gpuaas/node-agent/service-stopped.yaml'),
    'utf8',
  );
  writeFileSync(
    own,
    stopped
      .replace('node-agent/service-stopped', 'mine/stopped')
      .replace('target: { node: node-1 }', 'target: { node: worker-7 }'),
  );
  const plan = (...more: string[]) => hopdrill('plan', ...more, '--profile', file);
  const refused = await plan('node-agent/service-stopped');
  expect(refused.code, refused.err).toBe(4);
  expect(refused.out).toContain(
    'the profile has no node node-1: say --node with one of its own (worker-7)',
  );
  expect(refused.out, 'nothing else is meant instead').not.toMatch(/^ {2}do /m);
  for (const words of [['node-agent/service-stopped', '--node', 'worker-7'], [own]]) {
    const { code, out, err } = await plan(...words);
    expect(code, err).toBe(0);
    expect(out).toMatch(/^ {2}target +node:worker-7$/m);
  }
  const unknown = await plan('node-agent/service-stopped', '--node', 'worker-8');
  expect([unknown.code, unknown.err]).toEqual([
    64,
    expect.stringContaining('allowed on your-platform: worker-7 | nearest: worker-7'),
  ]);
});

test('preflight --explain --json is one document, as its schema says', async () => {
  const schema = z.fromJSONSchema(
    JSON.parse(readFileSync(join(root, 'harness/records/schemas/preflight-explain.json'), 'utf8')),
  );
  const { code, out } = await hopdrill('preflight', '--explain', '--json');
  expect(code).toBe(0);
  expect(schema.safeParse(JSON.parse(out)).error?.issues ?? []).toEqual([]);
});
