// Ten runs of the whole catalogue in a row, each shuffled by its number: no flake, nothing left
// over, memory flat. Not part of the gate: it takes as long as ten catalogues.
import { availableParallelism, loadavg } from 'node:os';
import { parseArgs } from 'node:util';
import { command, hopdrill } from './bench/processes.ts';
import { eventsOf } from './bench/scenarios.ts';

const help = `Usage: node tools/ten-runs.ts [--stack NAME] [--runs N] [--policies SET] [scenario|folder|glob ...]

Runs "hopdrill run scenarios/gpuaas --shuffle N" for N = 1 to 10 on one stack (its own, unless named), samples the summed PSS of
the harness's processes each second, and after each run asks "hopdrill undo --dry-run" whether anything was left.

Exit codes: 0 all passed, nothing left, at most 300 MB, and run 10 at most 1.1 x run 5; else 1; 64 wrong usage;
130/143 interrupted, with what was broken put back and the stack taken away.
`;

interface Run {
  readonly number: number;
  readonly seconds: number;
  readonly peakMb: number;
  readonly passed: number;
  readonly others: readonly string[];
  readonly left: readonly string[];
}

const options = {
  stack: { type: 'string' },
  runs: { type: 'string', default: '10' },
  policies: { type: 'string' },
  help: { type: 'boolean', short: 'h', default: false },
} as const;

const stopped = new AbortController();
for (const name of ['SIGINT', 'SIGTERM'] as const) process.on(name, () => stopped.abort(name));

async function oneRun(number: number, stack: string, patterns: readonly string[]): Promise<Run> {
  const argv = ['run', ...patterns, '--shuffle', String(number), '--stack', stack, '--json'];
  const ended = await command(hopdrill, argv, {
    memory: true,
    expect: [0, 1, 2, 3, 4],
    signal: stopped.signal,
  });
  const last = eventsOf(ended.stdout).at(-1);
  const results = last?.event === 'summary' ? last.results : [];
  const undo = await command(hopdrill, ['undo', '--stack', stack, '--dry-run', '--json'], {
    expect: [0, 3],
  });
  const { runs, leftovers, unproven } = JSON.parse(undo.stdout) as {
    runs: { run: string }[];
    leftovers: { what: string; where: string }[];
    unproven: string[];
  };
  return {
    number,
    seconds: ended.ms / 1000,
    peakMb: Math.max(0, ...ended.memory),
    passed: results.filter(({ verdict }) => verdict === 'pass').length,
    others: [
      ...results
        .filter(({ verdict }) => verdict !== 'pass')
        .map(({ scenario, verdict }) => `${scenario} ${verdict}`),
      ...(results.length === 0 ? ['nothing ran'] : []),
    ],
    left: [
      ...runs.map(({ run }) => `run ${run}`),
      ...leftovers.map(({ what, where }) => `${what} at ${where}`),
      ...unproven,
    ],
  };
}

const line = ({ number, seconds, peakMb, passed, others, left }: Run): string =>
  `${String(number).padStart(3)}  ${seconds.toFixed(1).padStart(7)} s  ${peakMb.toFixed(0).padStart(5)} MB  ${passed} passed${others.length > 0 ? `, ${others.join(', ')}` : ''}${left.length > 0 ? `; LEFT: ${left.join(', ')}` : ''}\n`;

function conclude(runs: readonly Run[]): number {
  // The first ones load and compile, and say nothing about what grows.
  const from = Math.ceil(runs.length / 2);
  const [middle, last] = [runs[from - 1]?.peakMb ?? 0, runs.at(-1)?.peakMb ?? 0];
  const peak = Math.max(...runs.map(({ peakMb }) => peakMb));
  const ratio = middle === 0 ? 1 : last / middle;
  const clean = runs.every(({ others, left }) => others.length === 0 && left.length === 0);
  process.stdout.write(
    `peak ${peak.toFixed(0)} MB (reach 300), run ${runs.length} / run ${from} = ${ratio.toFixed(2)} (reach 1.1), ${clean ? 'no flake, nothing left' : 'NOT CLEAN'}; `,
  );
  process.stdout.write(
    `load average ${loadavg()[0]?.toFixed(1)} on ${availableParallelism()} cores\n`,
  );
  return clean && peak <= 300 && ratio <= 1.1 ? 0 : 1;
}

async function main(): Promise<number> {
  const { values, positionals } = parseArgs({ options, allowPositionals: true, strict: true });
  if (values.help) {
    process.stdout.write(help);
    return 0;
  }
  const stack = values.stack ?? `ten-runs-${process.pid}`;
  const patterns = positionals.length > 0 ? positionals : ['scenarios/gpuaas'];
  const runs: Run[] = [];
  try {
    if (values.stack === undefined)
      await command(hopdrill, [
        'up',
        '--stack',
        stack,
        '--browser',
        ...(values.policies === undefined ? [] : ['--policies', values.policies]),
      ]);
    for (let number = 1; number <= Number(values.runs) && !stopped.signal.aborted; number += 1) {
      const run = await oneRun(number, stack, patterns);
      runs.push(run);
      process.stdout.write(line(run));
    }
  } finally {
    if (values.stack === undefined) await command(hopdrill, ['down', '--stack', stack]);
  }
  return conclude(runs);
}

try {
  process.exitCode = await main();
} catch (error) {
  process.stderr.write(`ten-runs: ${(error as Error).message}\n`);
  if (stopped.signal.aborted) process.exitCode = stopped.signal.reason === 'SIGINT' ? 130 : 143;
  else process.exitCode = (error as { code?: string }).code?.startsWith('ERR_PARSE_ARGS') ? 64 : 70;
}
