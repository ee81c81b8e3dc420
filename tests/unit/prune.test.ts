// Which run folders `report --prune` removes, and what it never touches: with real folders.
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readlinkSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import { main } from '../../harness/cli/main.ts';
import { run as report } from '../../harness/cli/report.ts';
import { pruneDocument } from '../../harness/records/documents.ts';
import { stampOf } from '../../harness/run-tools/folder.ts';
import { prune, pruneLines } from '../../reports/prune.ts';

const dayMs = 86_400_000;
let out: string;

beforeEach(() => {
  out = mkdtempSync(join(tmpdir(), 'hopdrill-prune-'));
});

interface Files {
  readonly verdict?: boolean;
  readonly sealed?: boolean;
  readonly run?: string;
  readonly quietForMs?: number;
}

/** A run folder that began so many days ago; gives its name. */
function folder(daysAgo: number, files: Files = {}): string {
  const { verdict = true, sealed = false, run = 'run-a', quietForMs = 0 } = files;
  const name = `${stampOf(new Date(Date.now() - daysAgo * dayMs))}-area.scenario`;
  const dir = join(out, name);
  mkdirSync(join(dir, 'evidence'), { recursive: true });
  const events = join(dir, 'events.jsonl');
  writeFileSync(events, `${JSON.stringify({ event: 'stage', run_id: run })}\n`);
  writeFileSync(join(dir, 'evidence', 'page.txt'), 'x'.repeat(1000));
  if (verdict) writeFileSync(join(dir, 'verdict.json'), '{}');
  if (sealed) writeFileSync(join(dir, 'manifest.json'), '{}');
  const then = (Date.now() - quietForMs) / 1000;
  utimesSync(events, then, then);
  return name;
}

const left = (): string[] => readdirSync(out).sort();
const statesOf = (document: ReturnType<typeof prune>): string[] =>
  document.folders.map(({ dir, state }) => `${dir.slice(out.length + 1)} ${state}`);

describe('what goes', () => {
  test('all but the latest N', () => {
    const [a, b, c] = [folder(3), folder(2), folder(1)] as const;
    expect(statesOf(prune({ out, keep: 2, dryRun: false }))).toEqual([`${a} removed`]);
    expect(left()).toEqual([b, c]);
    prune({ out, keep: 5, dryRun: false });
    expect(left()).toEqual([b, c]);
    prune({ out, keep: 0, dryRun: false });
    expect(left()).toEqual([]);
  });

  test('what began longer ago, by its name and not by when somebody last wrote to it', () => {
    const [, young] = [folder(31), folder(29)] as const;
    prune({ out, olderThanMs: 30 * dayMs, dryRun: false });
    expect(left()).toEqual([young]);
  });

  test('with both limits only what both let go', () => {
    const [, b, c] = [folder(50), folder(40), folder(1)] as const;
    prune({ out, keep: 2, olderThanMs: 10 * dayMs, dryRun: false });
    expect(left()).toEqual([b, c]);
    prune({ out, keep: 0, olderThanMs: 10 * dayMs, dryRun: false });
    expect(left()).toEqual([c]);
  });

  test('says each folder and the bytes; a dry run says the same and removes nothing', () => {
    const [a, b] = [folder(3), folder(2)] as const;
    const dry = prune({ out, keep: 1, dryRun: true });
    expect(left()).toEqual([a, b]);
    expect(pruneLines(dry)).toEqual([
      `would be removed: ${join(out, a)}`,
      'would free 1037 bytes (0.0 MiB): 1 run folder',
    ]);
    expect(pruneLines(prune({ out, keep: 1, dryRun: false }))).toEqual([
      `removed: ${join(out, a)}`,
      'freed 1037 bytes (0.0 MiB): 1 run folder',
    ]);
  });

  test('no folder at all is nothing to do', () => {
    const document = prune({ out: join(out, 'nowhere'), keep: 0, dryRun: false });
    expect(pruneLines(document)).toEqual(['freed 0 bytes (0.0 MiB): 0 run folders']);
  });
});

describe('what stays', () => {
  test('a sealed one, and says so', () => {
    const sealed = folder(3, { sealed: true });
    const document = prune({ out, keep: 0, dryRun: false });
    expect(left()).toEqual([sealed]);
    expect(pruneLines(document)[0]).toBe(
      `kept, sealed: ${join(out, sealed)} (it has a manifest.json)`,
    );
  });

  test('one that is under way, by its fresh events or by its living process', () => {
    const hours = 3 * 3_600_000;
    const fresh = folder(3, { verdict: false });
    const held = folder(2, { verdict: false, quietForMs: hours, run: 'run-held' });
    const killed = folder(1, { verdict: false, quietForMs: hours, run: 'run-killed' });
    const document = prune({ out, keep: 0, dryRun: false, runsUnderWay: ['run-held'] });
    expect(statesOf(document)).toEqual([
      `${fresh} under_way`,
      `${held} under_way`,
      `${killed} removed`,
    ]);
    expect(left()).toEqual([fresh, held]);
  });

  test('what is no run folder, whatever it is called', () => {
    const stamp = stampOf(new Date(0));
    mkdirSync(join(out, `${stamp}-not-a-run`));
    writeFileSync(join(out, `${stamp}-not-a-run`, 'notes.txt'), 'mine');
    mkdirSync(join(out, 'proof'));
    writeFileSync(join(out, 'proof', 'verdict.json'), '{}');
    writeFileSync(join(out, 'junit.xml'), '');
    const before = left();
    expect(prune({ out, keep: 0, dryRun: false }).folders).toEqual([]);
    expect(left()).toEqual(before);
  });

  test('what a link leads to', () => {
    const elsewhere = mkdtempSync(join(tmpdir(), 'hopdrill-elsewhere-'));
    writeFileSync(join(elsewhere, 'verdict.json'), '{}');
    const link = `${stampOf(new Date(0))}-a-link`;
    symlinkSync(elsewhere, join(out, link));
    const real = folder(1);
    symlinkSync(elsewhere, join(out, real, 'evidence', 'linked'));
    expect(statesOf(prune({ out, keep: 0, dryRun: false }))).toEqual([`${real} removed`]);
    expect(left()).toEqual([link]);
    expect(readdirSync(elsewhere)).toEqual(['verdict.json']);
  });
});

describe('the link `latest`', () => {
  const latest = (): string => readlinkSync(join(out, 'latest'));

  test('leads to the newest run that is left when its own goes', () => {
    const [old, young] = [folder(3), folder(1)] as const;
    symlinkSync(join(out, old), join(out, 'latest'));
    const dry = prune({ out, keep: 1, dryRun: true });
    expect(pruneLines(dry)).toContain(`latest: would lead to ${join(out, young)}`);
    expect(latest()).toBe(join(out, old));
    prune({ out, keep: 1, dryRun: false });
    expect(latest()).toBe(join(out, young));
  });

  test('goes when no run is left, and stays when its run does', () => {
    const [, young] = [folder(3), folder(1)] as const;
    symlinkSync(join(out, young), join(out, 'latest'));
    expect(prune({ out, keep: 1, dryRun: false }).latest).toBeNull();
    expect(latest()).toBe(join(out, young));
    expect(prune({ out, keep: 0, dryRun: false }).latest).toEqual({ points_to: null });
    expect(left()).toEqual([]);
  });

  test('is left alone when it leads elsewhere', () => {
    const name = folder(1);
    const elsewhere = mkdtempSync(join(tmpdir(), 'hopdrill-elsewhere-'));
    symlinkSync(join(elsewhere, name), join(out, 'latest'));
    expect(prune({ out, keep: 0, dryRun: false }).latest).toBeNull();
    expect(left()).toEqual(['latest']);
  });
});

test('what cannot be removed is named and found again; the rest goes', () => {
  const [stuck, free] = [folder(3), folder(2)] as const;
  const evidence = join(out, stuck, 'evidence');
  const nobody = 65534;
  chmodSync(evidence, 0o555);
  const isRoot = process.geteuid?.() === 0;
  // Root may remove anything, so somebody else has to try.
  if (isRoot) for (const dir of ['', stuck, free]) chownSync(join(out, dir), nobody, nobody);
  if (isRoot) chownSync(join(out, free, 'evidence'), nobody, nobody);
  if (isRoot) process.seteuid?.(nobody);
  let document: ReturnType<typeof prune>;
  try {
    document = prune({ out, keep: 0, dryRun: false });
  } finally {
    if (isRoot) process.seteuid?.(0);
  }
  expect(document.ok).toBe(false);
  expect(statesOf(document)).toEqual([`${stuck} failed`, `${free} removed`]);
  expect(pruneLines(document)[0]).toMatch(/^could not be removed: .*\(.*EACCES.*evidence/);
  expect(existsSync(join(out, free))).toBe(false);
  chmodSync(evidence, 0o755);
  expect(statesOf(prune({ out, keep: 0, dryRun: false }))).toEqual([`${stuck} removed`]);
});

test('--json is one document, as its schema says', async () => {
  const written: string[] = [];
  const { write } = process.stdout;
  process.stdout.write = ((text: string) => written.push(text) > 0) as typeof write;
  try {
    const argv = ['report', '--prune', '--older', '9999d', '--dry-run', '--json'];
    expect(await main(argv)).toBe(0);
  } finally {
    process.stdout.write = write;
  }
  expect(pruneDocument.parse(JSON.parse(written.join('')))).toMatchObject({ freed_bytes: 0 });
});

test.each([
  ['--prune', /found: --prune alone \| allowed: with --keep N, with --older AGE, or with both/],
  ['--prune --keep -1', /found: --keep -1 \| allowed: a whole number from 0/],
  ['--prune --keep some', /found: --keep some \| allowed: a whole number/],
  ['--prune --older 3w', /found: --older 3w \| allowed: .* 90s, 30m, 12h, 30d/],
  ['--prune --older -1d', /found: --older -1d/],
  ['--prune --older 500ms', /found: --older 500ms/],
  ['--prune --keep x --older y', /--keep x[\s\S]*--older y/],
  ['--prune --keep 1 --last 2 there', /found: --last 2 beside --prune[\s\S]*found: there beside/],
  ['--keep 1 --dry-run', /found: --keep 1 without --prune[\s\S]*found: --dry-run without --prune/],
])('report %s is wrong usage, with what is allowed', (line, words) => {
  expect(() => report(line.split(' '))).toThrow(words);
  expect(() => report(line.split(' '))).toThrow(expect.objectContaining({ exitCode: 64 }));
});
