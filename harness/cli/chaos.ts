import { spawn } from 'node:child_process';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { appendKilled } from '../../reports/allure.ts';
import { junit } from '../../reports/junit.ts';
import { type FolderRead, outDir, readFolders } from '../../reports/records.ts';
import { counts, lines, paceOf, rowOfFolder, worstOf } from '../../reports/summary.ts';
import { type EndingSignal, exitCodes, exitOfSignal } from '../records/exit-codes.ts';
import { outFolder } from './arguments.ts';
import { controlCounts, controlLines, controlled } from './controls.ts';
import { onSignal } from './signals.ts';

export const summary = 'run the whole catalogue as tests, with one report (only in a checkout)';
export const help = `Usage: npm run chaos -- [options] [file ...] [options of vitest]

Brings stacks up, runs every scenario of the system as a test, writes one Allure report, JUnit and a table, judges the
controls over the stored records, and takes the stacks down.

  --system NAME    scenarios and stack of another system
  --stacks N       on N stacks side by side (1 to 8)
  --policies SET   the numbers that the stacks live by (default: the system's first set)
  --no-OPTION      without something that the system may be brought up with: all are by themselves
  --out DIR        write run folders and reports there (default: reports/out)
  --keep           leave the stacks up

Examples:
  npm run chaos
  npm run chaos -- --stacks 2 --no-browser
  npm run chaos -- {folder} --keep

Exit codes: 0 all passed, 1 fail, 2 inconclusive, 3 dirty, 4 aborted, 64 wrong usage, 70 internal error,
129/130/143 interrupted, with what was broken put back.
`;

const root = resolve(import.meta.dirname, '../..');
const bin = (name: string): string => join(root, 'node_modules/.bin', name);
const say = (text: string): void => void process.stderr.write(`chaos: ${text}\n`);

interface Wanted {
  readonly stacks: readonly string[];
  readonly policies: string | undefined;
  readonly out: string;
  /** Names of options that the stacks are brought up without. */
  readonly without: readonly string[];
  readonly keep: boolean;
  readonly rest: readonly string[];
}

const wrong = (text: string): Error =>
  Object.assign(new Error(`chaos: ${text}`), { exitCode: exitCodes.usage });

export function read(argv: readonly string[]): Wanted {
  const rest: string[] = [];
  const without: string[] = [];
  const own: Record<string, string> = {};
  for (let index = 0; index < argv.length; index += 1) {
    const word = argv[index] ?? '';
    const [name = '', attached] = word.split('=', 2);
    if (name === '--profile') throw wrong('--profile: policies are given with --policies');
    if (['--stacks', '--policies', '--out'].includes(name)) {
      own[name] = attached ?? argv[index + 1] ?? '';
      if (attached === undefined) index += 1;
    } else if (name === '--keep') own[name] = 'yes';
    else if (name.startsWith('--no-')) without.push(name.slice('--no-'.length));
    else rest.push(word);
  }
  const count = Number(own['--stacks'] ?? 1);
  if (!Number.isInteger(count) || count < 1 || count > 8)
    throw wrong('--stacks: a whole number from 1 to 8');
  const stacks = Array.from({ length: count }, (_, index) =>
    index === 0 ? 'chaos' : `chaos-${index + 1}`,
  );
  return {
    stacks,
    policies: own['--policies'],
    out: own['--out'] === undefined ? outDir : outFolder('chaos', own['--out']),
    without,
    keep: own['--keep'] !== undefined,
    rest,
  };
}

interface Platform {
  readonly system: string;
  /** Words of `up` for one more stack. */
  readonly up: readonly string[];
  /** Words for vitest. */
  readonly rest: readonly string[];
  /** Whether the system's first set of policies is used. */
  readonly usualPolicies: boolean;
}

async function platformOf({ policies, without }: Wanted): Promise<Platform> {
  const { system, file } = await (await import('./up.ts')).target();
  const options = Object.keys(file.options);
  const wanted = options.filter((one) => !without.includes(one)).map((one) => `--${one}`);
  const [usual] = Object.keys(file.policies?.sets ?? {});
  return {
    system: system.name,
    up: [...(policies === undefined ? [] : ['--policies', policies]), ...wanted],
    // Somebody else's, as --no-color is.
    rest: without.filter((one) => !options.includes(one)).map((one) => `--no-${one}`),
    usualPolicies: policies === undefined || policies === usual,
  };
}

let child: ReturnType<typeof spawn> | undefined;
let stopped: EndingSignal | undefined;

/**
 * The runner and its workers hear of a signal from us; a worker undoes what it broke before it
 * ends.
 */
function stop(name: EndingSignal): void {
  stopped ??= name;
  say(`${name}: waiting for the undo`);
  if (child?.pid !== undefined) process.kill(-child.pid, name);
}

/**
 * Vitest leaves at once; its workers are still undoing, and the platform must not go away under
 * them.
 */
async function groupGone(pid: number, withinMs = 60_000): Promise<void> {
  const until = performance.now() + withinMs;
  while (performance.now() < until) {
    try {
      process.kill(-pid, 0);
    } catch {
      return;
    }
    await new Promise((resume) => setTimeout(resume, 200));
  }
}

function execute(
  command: string,
  argv: readonly string[],
  env: NodeJS.ProcessEnv,
): Promise<number> {
  return new Promise((done, failed) => {
    // A group of its own: Ctrl-C reaches the child once, through us.
    child = spawn(command, argv, { cwd: root, env, stdio: 'inherit', detached: true });
    child.once('error', failed);
    const { pid } = child;
    child.once('exit', (code, signal) => {
      const status = code ?? (signal === 'SIGINT' ? exitCodes.interrupted : exitCodes.terminated);
      void groupGone(pid ?? 0).then(() => done(status));
    });
  });
}

async function chaos(wanted: Wanted): Promise<number> {
  const platform = await platformOf(wanted);
  const [up, down] = await Promise.all([import('./up.ts'), import('./down.ts')]);
  const started = new Date();
  const results = join(wanted.out, 'allure-results');
  rmSync(results, { recursive: true, force: true });
  mkdirSync(wanted.out, { recursive: true });
  const began = performance.now();
  let tested: number = exitCodes.internal;
  try {
    for (const stack of wanted.stacks) {
      const code = await up.run(['--stack', stack, ...platform.up]);
      if (code !== 0) return code;
    }
    if (stopped !== undefined) return exitOfSignal[stopped];
    const env = {
      ...process.env,
      HOPDRILL_STACKS: wanted.stacks.join(','),
      HOPDRILL_OUT: wanted.out,
      PATH: `${join(root, 'node_modules/.bin')}:${process.env.PATH}`,
    };
    const filters = wanted.rest.some((word) => word.includes('scenarios/'))
      ? []
      : [`scenarios/${platform.system}`];
    tested = await execute(
      bin('vitest'),
      ['run', '--project', 'scenarios', ...filters, ...wanted.rest, ...platform.rest],
      {
        ...env,
        HOPDRILL_ALLURE_RESULTS: results,
      },
    );
  } finally {
    if (!wanted.keep) for (const stack of wanted.stacks) await down.run(['--stack', stack]);
  }
  return finish(
    {
      started,
      stacks: wanted.stacks,
      usualPolicies: platform.usualPolicies,
      out: wanted.out,
      wallMs: performance.now() - began,
      results,
    },
    tested,
  );
}

interface Ended {
  readonly started: Date;
  readonly stacks: readonly string[];
  readonly usualPolicies: boolean;
  readonly out: string;
  readonly wallMs: number;
  readonly results: string;
}

/** On two stacks with the usual policies a scenario takes at most this long. */
const reachSeconds = 8;

function paceLine(folders: readonly FolderRead[], usualPolicies: boolean, stacks: number): string {
  const pace = paceOf(folders.flatMap(({ record }) => record ?? []));
  if (pace === null) return '';
  const { spanSeconds, perScenario } = pace;
  const reach =
    usualPolicies && stacks === 2
      ? ` (reach ${reachSeconds} s: ${perScenario <= reachSeconds ? 'yes' : 'no'})`
      : '';
  return `first baseline to last recover: ${spanSeconds.toFixed(1)} s, ${perScenario.toFixed(1)} s a scenario on ${stacks} ${stacks === 1 ? 'stack' : 'stacks'}${reach}\n`;
}

async function finish(
  { started, stacks, usualPolicies, out, wallMs, results }: Ended,
  vitestCode: number,
): Promise<number> {
  // Somebody else may run scenarios on other stacks meanwhile; those are not ours to count.
  const folders = readFolders(out, started).filter(
    ({ stack }) => stack !== null && stacks.includes(stack),
  );
  const rows = folders.map(rowOfFolder);
  appendKilled(results, folders);
  writeFileSync(join(out, 'junit.xml'), junit(rows));
  const report = join(out, 'allure');
  const made = await execute(
    bin('allure'),
    ['awesome', results, '--output', report, '--single-file'],
    process.env,
  ).catch(() => 1);
  say(made === 0 ? `report: ${join(report, 'index.html')}` : 'no Allure report could be made');
  process.stdout.write(
    `\n${lines(rows)}\n\n${paceLine(folders, usualPolicies, stacks.length)}wall with up and down: ${(wallMs / 1000).toFixed(1)} s\n`,
  );
  const worst = worstOf(rows);
  const nothing = rows.length === 0;
  if (nothing) process.stdout.write('no scenario ran\n');
  const runs = await controlled(folders.flatMap(({ record }) => record ?? []));
  process.stdout.write(`${controlLines(runs).join('\n')}\n`);
  const controls = controlCounts(runs);
  process.stdout.write(`${counts(rows, controls)}\n`);
  if (stopped !== undefined && worst !== 'dirty') return exitOfSignal[stopped];
  if (worst === 'pass' && controls.failed > 0) return exitCodes.fail;
  // Vitest knows of failures that left no run folder, e.g. a scenario file with mistakes.
  return worst === 'pass'
    ? nothing && vitestCode === 0
      ? exitCodes.inconclusive
      : vitestCode
    : exitCodes[worst];
}

export async function run(argv: readonly string[]): Promise<number> {
  const wanted = read(argv);
  const { setup } = await import('../stack/bootstrap/setup.mjs');
  const code = await setup(['--for', 'chaos']);
  if (code !== 0) return code;
  const end = onSignal(stop);
  try {
    return await chaos(wanted);
  } finally {
    end();
  }
}
