// `--json`: one document (for `run` one event a line) alone on stdout, as its schema in the
// repository says, and the exit codes of the design. The schemas are read from disk, as somebody
// else's program would.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { z } from 'zod';
import { profileFileOf } from '../../../harness/stack/state.ts';
import { type Places, places } from '../../../tools/bench/places.ts';
import { argvFor, command } from '../support/preflight.ts';
import { type Json, World } from '../support/world.ts';

const schema = (name: string): z.ZodType =>
  z.fromJSONSchema(
    JSON.parse(
      readFileSync(
        new URL(`../../../harness/records/schemas/${name}.json`, import.meta.url),
        'utf8',
      ),
    ),
  );

let world: World;
let profile: string;
let small: { file: string };
let where: Places;
const work = mkdtempSync(join(tmpdir(), 'json-contracts-'));

beforeAll(async () => {
  world = new World();
  profile = profileFileOf(world.profile.stack);
  where = places(undefined, () => {});
  small = await where.oneHop();
});
afterAll(async () => {
  await where.close();
  rmSync(work, { recursive: true, force: true });
});

/** Runs a command and checks its one document. */
async function documentOf(
  name: string,
  argv: readonly string[],
  codes: readonly number[] = [0],
): Promise<Json> {
  const { stdout, exitCode, stderr } = await command(argv);
  expect(codes, `${argv.join(' ')}: ${stderr}`).toContain(exitCode);
  const document = JSON.parse(stdout);
  const result = schema(name).safeParse(document);
  expect(result.error?.issues ?? [], argv.join(' ')).toEqual([]);
  return document;
}

test('list', async () => {
  const rows = await documentOf('list', ['list', '--json']);
  expect(rows.length).toBeGreaterThan(13);
  expect(Object.keys(rows[0]).sort()).toEqual([
    'file',
    'name',
    'severity',
    'source',
    'system',
    'tags',
  ]);
});

test('plan', async () => {
  const { plans } = await documentOf('plan', [
    'plan',
    'node-agent/service-stopped',
    '--stack',
    world.profile.stack,
    '--json',
  ]);
  expect(plans).toHaveLength(1);
  expect(plans[0].undo.length).toBeGreaterThan(0);
});

test('preflight, on every exit path', async () => {
  const green = await documentOf('preflight', ['preflight', '--profile', profile, '--json']);
  expect(green.result).toBe('healthy');
  const argv = argvFor(world.profile.stack, 'node-1');
  const at = argv.indexOf('--allocation-id');
  const partial = ['preflight', ...argv.toSpliced(at, 2), '--json'];
  expect((await documentOf('preflight', partial)).partial).toBe(true);
  expect((await documentOf('preflight', [...partial, '--require-complete'], [2])).result).toBe(
    'inconclusive',
  );
  expect(
    (
      await documentOf(
        'preflight',
        ['preflight', '--profile', profile, '--nonsense', '--json'],
        [64],
      )
    ).error.code,
  ).toBe('usage');
  expect(
    (await documentOf('preflight', ['preflight', '--profile', '/nowhere.yaml', '--json'], [64]))
      .error.code,
  ).toBe('usage');
});

test('status, doctor, undo, stop', async () => {
  const { stacks } = await documentOf('status', ['status', '--json']);
  expect(stacks.map((one: Json) => one.stack)).toContain(world.profile.stack);
  await documentOf('doctor', ['doctor', '--json'], [0, 1]);
  expect(
    (await documentOf('undo', ['undo', '--stack', world.profile.stack, '--dry-run', '--json']))
      .dry_run,
  ).toBe(true);
  expect(
    (await documentOf('undo', ['undo', '--stack', world.profile.stack, '--json'])).unproven,
  ).toEqual([]);
  expect(
    (await documentOf('stop', ['stop', '--stack', world.profile.stack, '--json'])).runs,
  ).toEqual([]);
});

test('run: one event a line, the summary last', async () => {
  const { stdout, exitCode } = await command([
    'run',
    'one-hop/service-cut',
    '--repeat',
    '2',
    '--profile',
    small.file,
    '--no-deadman',
    '--json',
  ]);
  expect(exitCode).toBe(0);
  const events = stdout.split('\n').map((line) => JSON.parse(line));
  const event = schema('run-event');
  expect(events.filter((one) => !event.safeParse(one).success)).toEqual([]);
  const last = events.at(-1);
  expect(events.filter((one) => one.event === 'summary')).toEqual([last]);
  expect(last).toMatchObject({ event: 'summary', verdict: 'pass' });
  expect(last.results).toHaveLength(2);
  for (const result of last.results) {
    expect(Object.keys(result).sort()).toEqual([
      'duration_ms',
      'hop',
      'own_ms',
      'scenario',
      'signal',
      'verdict',
    ]);
    expect(result).toMatchObject({
      scenario: 'one-hop/service-cut',
      verdict: 'pass',
      hop: 'service',
      signal: 'service_unreachable',
    });
    expect(result.own_ms).toBeLessThanOrEqual(result.duration_ms);
  }
  const verdict = events.find((one) => one.event === 'verdict');
  const record = JSON.parse(readFileSync(join(verdict.dir, 'verdict.json'), 'utf8'));
  expect(schema('verdict').safeParse(record).error?.issues ?? []).toEqual([]);
  expect(record.stages.every((stage: Json) => stage.own_ms <= stage.duration_ms + 1)).toBe(true);
});

test('bench', async () => {
  const node = process.execPath;
  const { execa } = await import('execa');
  const main = new URL('../../../tools/bench/main.ts', import.meta.url).pathname;
  const ran = await execa(
    node,
    [
      main,
      '--only',
      'engine-one',
      '--only',
      'preflight',
      '--only',
      'sigkill',
      '--rounds',
      '1',
      '--stack',
      world.profile.stack,
      '--json',
    ],
    { reject: false },
  );
  expect(ran.exitCode, ran.stderr).toBe(0);
  const document = JSON.parse(ran.stdout);
  expect(schema('bench').safeParse(document).error?.issues ?? []).toEqual([]);
  expect(document.broken).toEqual([]);
  const names = document.rows.map((row: Json) => row.name);
  expect(names).toEqual(
    expect.arrayContaining([
      'preflight-cold',
      'preflight-warm',
      'script-sequential',
      'script-parallel',
      'engine-one',
      'sigkill',
    ]),
  );
  expect(names).not.toContain('engine-ten');
  expect(Object.keys(document.rows[0]).sort()).toEqual([
    'baseline',
    'name',
    'ok',
    'ratio',
    'reach',
    'unit',
    'value',
  ]);
});

test.each([
  [64, ['run', 'no-such-scenario', '--json']],
  [64, ['run', '--repeat', '0', '--json']],
  [64, ['plan', '--nonsense', '--json']],
  [64, ['status', '--nonsense', '--json']],
  [64, ['list', '--nonsense', '--json']],
  [64, ['nonsense', '--json']],
])('wrong usage ends with %i and keeps stdout clean: %j', async (code, argv) => {
  const { exitCode, stdout, stderr } = await command(argv);
  expect({ exitCode, stdout }).toEqual({ exitCode: code, stdout: '' });
  expect(stderr).not.toBe('');
});
