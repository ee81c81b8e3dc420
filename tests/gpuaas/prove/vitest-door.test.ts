// The door that vitest is to scenario files: filters, the place of a wrong expectation, what Allure
// is given, a killed run.
import { execFileSync } from 'node:child_process';
import { globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { execa } from 'execa';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { root } from '../../../harness/cli/select.ts';
import { stageNames } from '../../../harness/records/events.ts';
import { appendKilled } from '../../../reports/allure.ts';
import { outDir, readFolder, readFolders } from '../../../reports/records.ts';
import { hopdrill, leftOnTargets, stackOfSuite } from '../support/proof.ts';

const original = join(root, 'scenarios/gpuaas/node-agent/ops-ssh-refused.yaml');
const place = mkdtempSync(join(tmpdir(), 'hopdrill-door-'));
const results = join(place, 'results');

interface Result {
  readonly name: string;
  readonly status: string;
  readonly statusDetails: { message?: string; trace?: string };
  readonly labels: readonly { name: string; value: string }[];
  readonly steps: readonly {
    name: string;
    start: number;
    stop: number;
    steps: Result['steps'];
    attachments: readonly { name: string; source: string }[];
  }[];
  readonly attachments: readonly { name: string; source: string }[];
}

const vitest = (args: readonly string[], env: Record<string, string> = {}) =>
  execa(
    'node',
    [join(root, 'node_modules/vitest/vitest.mjs'), 'run', '--project', 'scenarios', ...args],
    {
      cwd: root,
      reject: false,
      all: true,
      stdin: 'ignore',
      env: {
        NO_COLOR: '1',
        HOPDRILL_STACK: stackOfSuite(),
        HOPDRILL_STACKS: stackOfSuite(),
        ...env,
      },
    },
  );

const resultsRead = (): Result[] =>
  globSync('*-result.json', { cwd: results }).map((file) =>
    JSON.parse(readFileSync(join(results, file), 'utf8')),
  );
const attachmentsOf = (result: Result) => [
  ...result.attachments,
  ...result.steps.flatMap((step) => step.attachments),
];

afterAll(() => {
  rmSync(place, { recursive: true, force: true });
});

test('a file filter and -t choose among the scenarios without running the others', async () => {
  const listed = await execa(
    'node',
    [
      join(root, 'node_modules/vitest/vitest.mjs'),
      'list',
      '--project',
      'scenarios',
      'scenarios/gpuaas/terminal',
    ],
    {
      cwd: root,
      env: { NO_COLOR: '1', HOPDRILL_STACK: stackOfSuite() },
    },
  );
  const files = globSync('scenarios/gpuaas/terminal/*.yaml', { cwd: root });
  const named = listed.stdout
    .split('\n')
    .flatMap((line) => /scenarios\/\S+\.yaml/.exec(line)?.[0] ?? []);
  expect([...new Set(named)].sort()).toEqual(files.sort());
  for (const file of files) expect(listed.stdout).toContain(`terminal/${basename(file, '.yaml')}`);
  const none = await vitest(['scenarios/gpuaas/terminal', '-t', 'no scenario is called so']);
  expect(none.all).toMatch(new RegExp(`${files.length} skipped`));
});

describe('a right and a wrong expectation', () => {
  let printed = '';
  let since = new Date();
  let wrongLine = '';

  beforeAll(async () => {
    const text = readFileSync(original, 'utf8');
    const wrong = text
      .replace(/^( +hop: ).*$/m, '$1node_heartbeat')
      .replace(/^( +signal: ).*$/m, '$1node_agent_heartbeat_stale')
      .replace(/^ +cause: .*\n/m, '');
    expect(wrong).not.toBe(text);
    const file = join(root, 'scenarios/gpuaas/node-agent', `door-${process.pid}.yaml`);
    writeFileSync(
      file,
      wrong.replace(/^scenario: .*$/m, `scenario: node-agent/door-${process.pid}`),
    );
    const lines = wrong.split('\n');
    const at = lines.findIndex((line) => /^ +hop: /.test(line));
    wrongLine = `${file}:${at + 1}:${(lines[at] ?? '').indexOf('node_heartbeat') + 1}`;
    since = new Date();
    try {
      const ran = await vitest([original, file], { HOPDRILL_ALLURE_RESULTS: results });
      printed = ran.all;
    } finally {
      rmSync(file, { force: true });
    }
  });

  test('both ran; one passed, one failed and was not tried again', () => {
    expect(printed).toContain('1 failed | 1 passed');
    expect(readFolders(outDir, since).filter(({ stack }) => stack === stackOfSuite())).toHaveLength(
      2,
    );
  });

  test('the failure points at file, line and column of what did not hold', () => {
    expect(printed).toContain(wrongLine.replace(`${root}/`, ''));
    expect(printed).toMatch(/fail: hop: expected node_heartbeat, observed node_ops_access/);
  });

  test('Allure has both: stages as steps with the time that they took, severity, and the catalogue entry', () => {
    const found = resultsRead();
    expect(found.map(({ status }) => status).sort()).toEqual(['failed', 'passed']);
    for (const result of found) {
      // The report stage is still going on while its record is written.
      const names = result.steps.map((step) => step.name);
      expect(names).toEqual(expect.arrayContaining([...stageNames]));
      const took = (name: string): number =>
        result.steps
          .filter((step) => step.name === name)
          .reduce((sum, step) => sum + step.stop - step.start, 0);
      expect(took('recover')).toBeGreaterThan(200);
      expect(result.labels.find((label) => label.name === 'severity')?.value).toMatch(
        /^(blocker|critical|normal|minor)$/,
      );
      expect(result.labels).toContainEqual({
        name: 'catalogue',
        value: 'node-ops-ssh-fails-agent-polls',
      });
    }
  });

  test('and the files of the run, which are there', () => {
    for (const result of resultsRead()) {
      const files = attachmentsOf(result);
      const names = files.map(({ name }) => name);
      expect(names).toEqual(
        expect.arrayContaining([
          'verdict.json',
          'timeline.jsonl',
          'preflight-during.json',
          'catalogue: node-ops-ssh-fails-agent-polls',
        ]),
      );
      const verdict = files.find(({ name }) => name === 'verdict.json');
      expect(
        JSON.parse(readFileSync(join(results, verdict?.source ?? ''), 'utf8')).verdict,
      ).toMatch(/^(pass|fail)$/);
    }
  });

  test('one file is made of them', () => {
    execFileSync(
      join(root, 'node_modules/.bin/allure'),
      ['awesome', results, '--output', join(place, 'report'), '--single-file'],
      {
        stdio: 'ignore',
      },
    );
    // Nothing that a page would have to load from beside it.
    expect(globSync('**/*.{html,js,css}', { cwd: join(place, 'report') })).toEqual(['index.html']);
    expect(readFileSync(join(place, 'report/index.html'), 'utf8').length).toBeGreaterThan(100_000);
  });
});

test('a run whose runner is killed midway still appears, and leaves nothing', async () => {
  const since = new Date();
  const child = execa(
    'node',
    [join(root, 'node_modules/vitest/vitest.mjs'), 'run', '--project', 'scenarios', original],
    {
      cwd: root,
      reject: false,
      stdin: 'ignore',
      detached: true,
      env: { NO_COLOR: '1', HOPDRILL_STACK: stackOfSuite(), HOPDRILL_STACKS: stackOfSuite() },
    },
  );
  const dir = await vi.waitFor(
    () => {
      const folder = readFolders(outDir, since).find(({ stack }) => stack === stackOfSuite());
      if (
        folder === undefined ||
        !readFileSync(join(folder.dir, 'events.jsonl'), 'utf8').includes(
          '"stage":"effect","status":"done"',
        )
      )
        throw new Error('not yet');
      return folder.dir;
    },
    { timeout: 90_000, interval: 50 },
  );
  process.kill(-(child.pid ?? 0), 'SIGKILL');
  await child;
  const killed = join(place, 'killed');
  appendKilled(killed, [readFolder(dir)]);
  const [file = ''] = globSync('*-result.json', { cwd: killed });
  const result = JSON.parse(readFileSync(join(killed, file), 'utf8')) as Result;
  expect(result).toMatchObject({ name: 'node-agent/ops-ssh-refused', status: 'broken' });
  expect(result.statusDetails.message).toMatch(/^killed: no verdict/);
  expect(result.steps.map((step) => step.name)).toEqual(
    expect.arrayContaining(['baseline', 'inject', 'effect']),
  );
  expect(result.attachments.map(({ name }) => name)).toContain('plan.json');
  const undone = await hopdrill(['undo', '--stack', stackOfSuite()]);
  expect(undone.exitCode, undone.stdout + undone.stderr).toBe(0);
  expect(await leftOnTargets()).toEqual([]);
});
