// A system of somebody's own that breaks in the middle of a run: a clear word that names it, and
// everything is put back.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { execa } from 'execa';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { runEvent } from '../../harness/records/events.ts';
import { runRecord } from '../../harness/records/run-record.ts';
import { loadProfile, profileFileOf } from '../../harness/stack/state.ts';

const root = resolve(import.meta.dirname, '../..');
const stack = `broken-${process.pid}`;
let folder: string;

const from = (path: string): string => JSON.stringify(join(root, 'harness', path));

/** The smallest system, with something of it replaced. */
const module_ = (name: string, more: string): string => `
import oneHop from ${from('systems/one-hop/index.ts')};
import * as see from ${from('systems/one-hop/see.ts')};
import * as own from ${from('systems/one-hop/break.ts')};
import { defineSystem } from ${from('systems/define.ts')};
import { defineView } from ${from('systems/view.ts')};
const ask = { ...oneHop.ask, budgets: { ...oneHop.ask.budgets, settle: () => 3 } };
const fail = (what) => () => { throw new Error(what + ' fell over'); };
export default defineSystem({ ...oneHop, ask, name: '${name}', ${more} });
`;

const systems: Readonly<Record<string, string>> = {
  'bad-view':
    "see: async () => ({ ...see, views: { ...see.views, service: { ...see.views.service, read: fail('the view') } } })",
  'bad-user':
    "see: async () => ({ ...see, views: { ...see.views, user: { ...see.views.user, read: fail('the eye') } } })",
  'bad-shape':
    'see: async () => ({ ...see, views: { ...see.views, service: defineView({ ...see.views.service, read: async () => ({ answers: 7 }) }) } })',
  'bad-repair':
    "act: async () => ({ repairs: { mend: { title: 'mends', command: 'mend it', mends: ['greeting.change'], run: fail('the mending') } } })",
  'bad-conclusion': "ask: { ...ask, conclude: fail('the judge') }",
};

const scenario = (system: string, repair: string): string => `scenario: ${system}/greeting-changed
title: The service says something else
why: It answers 200 all the time.
severity: P2
system: ${system}
target: { node: box }
faults:
  - greeting.change: { text: goodbye }
expect:
  hop: greeting
  signal: greeting_wrong
  cause: other_text
  user: { state: not_greeted }
  never: [silent]
repair: ${repair}
recover: { proof: [preflight-green, greets] }
`;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'broken-system-'));
  await execa(join(root, 'hopdrill'), ['up', '--system', 'one-hop', '--stack', stack]);
  const profile = readFileSync(profileFileOf(stack), 'utf8');
  for (const [name, more] of Object.entries(systems)) {
    writeFileSync(join(folder, `${name}.ts`), module_(name, more));
    writeFileSync(
      join(folder, `profile-${name}.yaml`),
      profile.replace('system: one-hop', `system: ${name}`),
    );
    const repair = name === 'bad-repair' ? '[mend]' : 'revert';
    writeFileSync(join(folder, `${name}.yaml`), scenario(name, repair));
  }
}, 120_000);

afterAll(async () => {
  await execa(join(root, 'hopdrill'), ['down', '--stack', stack], { reject: false });
  rmSync(folder, { recursive: true, force: true });
}, 120_000);

async function greeting(): Promise<string> {
  const answer = await fetch(loadProfile(stack).endpoints.service ?? '');
  return (await answer.text()).trim();
}

test.each([
  ['bad-view', ['inconclusive'], 'the view service could not be read: the view fell over'],
  ['bad-user', ['inconclusive'], 'the view user could not be read: the eye fell over'],
  ['bad-shape', ['inconclusive'], 'the view service could not be read: another shape (0.answers'],
  ['bad-repair', ['inconclusive', 'dirty'], 'the mending fell over'],
  ['bad-conclusion', ['inconclusive'], 'the judge fell over'],
])('%s', { timeout: 120_000 }, async (name, verdicts, said) => {
  const { exitCode, stdout, stderr } = await execa(
    join(root, 'hopdrill'),
    [
      'run',
      `${name}.yaml`,
      '--system',
      `./${name}.ts`,
      '--profile',
      `profile-${name}.yaml`,
      '--out',
      folder,
      '--json',
    ],
    { cwd: folder, reject: false, stdin: 'ignore' },
  );
  expect([1, 2, 3], `${stdout}\n${stderr}`).toContain(exitCode);
  const verdict = stdout
    .trim()
    .split('\n')
    .map((line) => runEvent.parse(JSON.parse(line)))
    .find((event) => event.event === 'verdict');
  const record = runRecord.parse(
    JSON.parse(readFileSync(join(verdict?.dir ?? 'no run folder', 'verdict.json'), 'utf8')),
  );
  expect(verdicts).toContain(record.verdict);
  expect(JSON.stringify(record.reasons)).toContain(said);
  expect(stderr).not.toMatch(/\n\s+at .*\.ts:\d+/);
  expect(await greeting()).toBe('hello');
});
