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
import { outliveReaders } from './output.ts';
import { ignoreSignals, onSignal } from './signals.ts';

/**
 * `npm run chaos`: stacks up, every scenario as a vitest test, one Allure file, JUnit, a table,
 * stacks down. Arguments are passed on to vitest; `--stacks N`, `--profile NAME`, `--out DIR`,
 * `--keep` and `--no-browser` are ours.
 */
const root = resolve(import.meta.dirname, '../..');
const bin = (name: string): string => join(root, 'node_modules/.bin', name);
const say = (text: string): void => void process.stderr.write(`chaos: ${text}\n`);

interface Wanted {
  readonly stacks: readonly string[];
  readonly profile: string;
  readonly out: string;
  readonly browser: boolean;
  readonly keep: boolean;
  readonly rest: readonly string[];
}

export function read(argv: readonly string[]): Wanted {
  const rest: string[] = [];
  const own: Record<string, string> = {};
  for (let index = 0; index < argv.length; index += 1) {
    const word = argv[index] ?? '';
    const [name = '', attached] = word.split('=', 2);
    if (['--stacks', '--profile', '--out'].includes(name)) {
      own[name] = attached ?? argv[index + 1] ?? '';
      if (attached === undefined) index += 1;
    } else if (name === '--keep' || name === '--no-browser') own[name] = 'yes';
    else rest.push(word);
  }
  const count = Number(own['--stacks'] ?? 1);
  if (!Number.isInteger(count) || count < 1 || count > 8)
    throw Object.assign(new Error('chaos: --stacks: a whole number from 1 to 8'), {
      exitCode: exitCodes.usage,
    });
  const stacks = Array.from({ length: count }, (_, index) =>
    index === 0 ? 'chaos' : `chaos-${index + 1}`,
  );
  return {
    stacks,
    profile: own['--profile'] ?? 'fast',
    out: own['--out'] === undefined ? outDir : outFolder('chaos', own['--out']),
    browser: own['--no-browser'] === undefined,
    keep: own['--keep'] !== undefined,
    rest,
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
  const { main } = await import('./main.ts');
  const started = new Date();
  const results = join(wanted.out, 'allure-results');
  rmSync(results, { recursive: true, force: true });
  mkdirSync(wanted.out, { recursive: true });
  const began = performance.now();
  let code: number = exitCodes.internal;
  try {
    for (const stack of wanted.stacks) {
      const argv = [
        'up',
        '--stack',
        stack,
        '--profile',
        wanted.profile,
        ...(wanted.browser ? ['--browser'] : []),
      ];
      const up = await main(argv);
      if (up !== 0) return up;
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
      : ['scenarios/gpuaas'];
    code = await execute(
      bin('vitest'),
      ['run', '--project', 'scenarios', ...filters, ...wanted.rest],
      {
        ...env,
        HOPDRILL_ALLURE_RESULTS: results,
      },
    );
  } finally {
    if (!wanted.keep) for (const stack of wanted.stacks) await main(['down', '--stack', stack]);
  }
  return finish(
    {
      started,
      stacks: wanted.stacks,
      profile: wanted.profile,
      out: wanted.out,
      wallMs: performance.now() - began,
      results,
    },
    code,
  );
}

interface Ended {
  readonly started: Date;
  readonly stacks: readonly string[];
  readonly profile: string;
  readonly out: string;
  readonly wallMs: number;
  readonly results: string;
}

/**
 * DESIGN 10: the catalogue on two stacks with the fast profile takes at most this long a scenario.
 */
const reachSeconds = 8;

function paceLine(folders: readonly FolderRead[], profile: string, stacks: number): string {
  const pace = paceOf(folders.flatMap(({ record }) => record ?? []));
  if (pace === null) return '';
  const { spanSeconds, perScenario } = pace;
  const reach =
    profile === 'fast' && stacks === 2
      ? ` (reach ${reachSeconds} s: ${perScenario <= reachSeconds ? 'yes' : 'no'})`
      : '';
  return `first baseline to last recover: ${spanSeconds.toFixed(1)} s, ${perScenario.toFixed(1)} s a scenario on ${stacks} ${stacks === 1 ? 'stack' : 'stacks'}${reach}\n`;
}

async function finish(
  { started, stacks, profile, out, wallMs, results }: Ended,
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
    `\n${lines(rows)}\n\n${paceLine(folders, profile, stacks.length)}wall with up and down: ${(wallMs / 1000).toFixed(1)} s\n`,
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

if (import.meta.main) {
  outliveReaders();
  onSignal(stop);
  try {
    process.exitCode = await chaos(read(process.argv.slice(2)));
  } catch (error) {
    process.stderr.write(`${(error as Error).message}\n`);
    process.exitCode = (error as { exitCode?: number }).exitCode ?? exitCodes.internal;
  }
  ignoreSignals();
}
