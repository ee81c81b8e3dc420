// npm test and npm run prove: sections one after the other, minutes by section, and one closing
// line with the sum. A section with a stack brings its own up and takes it down whatever happens,
// Ctrl-C included.
import { randomInt } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { check } from './check.ts';
import { child, root } from './child.ts';
import { type Counts, readCounts } from './counts.ts';

interface Section {
  readonly name: string;
  run(): Promise<Counts>;
}

const interrupted = new AbortController();
const hopdrill = join(root, 'hopdrill');
const work = mkdtempSync(join(tmpdir(), 'sections-'));

/** Words after `--` go to vitest, so that one test can be run alone: `npm test -- -t name`. */
async function vitest(
  project: string,
  words: readonly string[],
  env: Record<string, string> = {},
): Promise<Counts> {
  const report = join(work, `${project}.json`);
  const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${report}`];
  const ended = await child('vitest', ['run', '--project', project, ...reporters, ...words], {
    keep: false,
    env,
    signal: interrupted.signal,
  });
  return readCounts(report, ended.code);
}

/** The stack must answer before any test of it counts; one that does not come up is one failure. */
async function onStack(project: string, words: readonly string[]): Promise<Counts> {
  const stack = `${project}-${process.pid}`;
  try {
    const up = await child(hopdrill, ['up', '--stack', stack, '--browser'], {
      keep: false,
      signal: interrupted.signal,
    });
    if (up.code !== 0 || interrupted.signal.aborted) return { passed: 0, failed: 1 };
    return await vitest(project, words, { HOPDRILL_STACK: stack });
  } finally {
    await child(hopdrill, ['down', '--stack', stack], { keep: false });
  }
}

const suites: Readonly<Record<string, (words: readonly string[]) => readonly Section[]>> = {
  test: (words) => [
    { name: 'check', run: check },
    { name: 'unit', run: () => vitest('unit', words) },
    { name: 'contract', run: () => onStack('contract', words) },
  ],
  prove: (words) => [
    { name: 'prove', run: () => onStack('prove', words) },
    { name: 'alone', run: () => vitest('alone', words) },
  ],
};

/** `--all` and `--seed N` are about what the tests sample; vitest does not know them. */
function sampling(words: readonly string[]): { env: Record<string, string>; words: string[] } {
  const at = words.indexOf('--seed');
  const seed = at === -1 ? randomInt(1_000_000) : Number(words[at + 1]);
  if (!Number.isSafeInteger(seed) || seed < 0)
    throw new Error(`sections: --seed ${words[at + 1] ?? ''}: a whole number from 0`);
  const rest = words.filter(
    (word, place) => word !== '--all' && (at === -1 || (place !== at && place !== at + 1)),
  );
  const env = {
    HOPDRILL_PROVE_SEED: String(seed),
    HOPDRILL_PROVE_ALL: words.includes('--all') ? '1' : '0',
  };
  return { env, words: rest };
}

async function main([suite = '', ...given]: readonly string[]): Promise<number> {
  const { env, words } = sampling(given);
  Object.assign(process.env, env);
  process.stdout.write(
    `seed ${env.HOPDRILL_PROVE_SEED} (the same samples again: -- --seed ${env.HOPDRILL_PROVE_SEED})\n`,
  );
  const sections = Object.hasOwn(suites, suite) ? suites[suite]!(words) : null;
  if (sections === null) {
    process.stderr.write(`sections: test or prove, not ${suite || 'nothing'}\n`);
    return 64;
  }
  const lines: string[] = [];
  const sum = { passed: 0, failed: 0 };
  for (const section of sections) {
    if (interrupted.signal.aborted) break;
    process.stdout.write(`\n== ${section.name}\n`);
    const startedAt = performance.now();
    const { passed, failed } = await section.run();
    const minutes = (performance.now() - startedAt) / 60_000;
    lines.push(
      `${section.name.padEnd(10)} ${minutes.toFixed(1).padStart(5)} min  ${passed} passed, ${failed} failed`,
    );
    sum.passed += passed;
    sum.failed += failed;
  }
  process.stdout.write(`\n${lines.join('\n')}\n${sum.passed} passed, ${sum.failed} failed\n`);
  return interrupted.signal.aborted ? 130 : sum.failed === 0 ? 0 : 1;
}

for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
  process.on(name, () => interrupted.abort());
try {
  process.exitCode = await main(process.argv.slice(2));
} finally {
  rmSync(work, { recursive: true, force: true });
}
