// The preflight, as a new process and warm, beside its own longest chain and the shell scripts that
// ask the same.
import { join } from 'node:path';
import { parseArgv } from '../../harness/preflight/argv.ts';
import { runPreflight } from '../../harness/preflight/run.ts';
import type { Request } from '../../harness/preflight/types.ts';
import type { BenchRow } from '../../harness/records/documents.ts';
import type { PreflightReport } from '../../harness/records/preflight.ts';
import { type AskedSystem, askedSystem } from '../../harness/systems/index.ts';
import { root } from '../child.ts';
import { type Bench, type Measurement, row } from './measurement.ts';
import { command, hopdrill } from './processes.ts';
import { interleave, median, round, timed } from './statistics.ts';

function requestOf(system: AskedSystem, argv: readonly string[]): Request {
  const parsed = parseArgv(system, argv);
  if (!parsed.ok) throw new Error(parsed.errors.join('\n'));
  return parsed.request;
}

/** Hops that no other hop waits for: the ends of the causal chains. */
const endsOf = ({ hops }: AskedSystem): string[] =>
  hops
    .filter((hop) => hop.optional !== true && !hops.some((other) => other.after.includes(hop.id)))
    .map((hop) => hop.id);

/**
 * The two chains that take longest when nothing else is asked: which of them is longer is left to
 * the medians.
 */
async function longestChains(system: AskedSystem, request: Request): Promise<string[]> {
  const times: { id: string; ms: number }[] = [];
  for (const id of endsOf(system)) {
    const alone = { ...request, flags: { ...request.flags, only: id } };
    const ms = median([
      await timed(() => runPreflight(system, alone)),
      await timed(() => runPreflight(system, alone)),
    ]);
    times.push({ id, ms });
  }
  return times
    .sort((a, b) => b.ms - a.ms)
    .slice(0, 2)
    .map(({ id }) => id);
}

async function sshMaster(
  bench: Bench,
  request: Request,
): Promise<{ path: string; close(): Promise<unknown> }> {
  const { flags } = request;
  const path = join(bench.work, 'ssh-master');
  const common = ['-F', 'none', '-o', `ControlPath=${path}`];
  const trust = [
    '-o',
    'BatchMode=yes',
    '-o',
    'StrictHostKeyChecking=yes',
    '-o',
    `UserKnownHostsFile=${flags['known-hosts']}`,
  ];
  const where = [
    '-i',
    String(flags['ssh-key']),
    '-p',
    String(flags['node-ssh-port']),
    `${flags['node-user']}@${flags['node-host']}`,
  ];
  await command('ssh', [
    ...common,
    ...trust,
    '-o',
    'ControlMaster=yes',
    '-o',
    'ControlPersist=600',
    '-fN',
    ...where,
  ]);
  return {
    path,
    close: () => command('ssh', [...common, '-O', 'exit', where.at(-1)!], { expect: [0, 255] }),
  };
}

/**
 * Where the time of a preflight goes: its slowest hops, each with when it began and how long it
 * took.
 */
function slowest(reports: readonly PreflightReport[]): string {
  const middle = [...reports].sort((a, b) => a.duration_ms - b.duration_ms)[
    Math.floor(reports.length / 2)
  ];
  const asked = (middle?.hops ?? [])
    .filter((hop) => hop.status !== 'skipped')
    .sort((a, b) => b.started_ms + b.duration_ms - a.started_ms - a.duration_ms);
  return asked
    .slice(0, 4)
    .map(
      (hop) =>
        `${hop.id} ${round(hop.started_ms, 0)}..${round(hop.started_ms + hop.duration_ms, 0)} ms`,
    )
    .join(', ');
}

interface Times {
  readonly cold: number[];
  readonly warm: number[];
  readonly sequential: number[];
  readonly parallel: number[];
  readonly coldChain: number;
  readonly warmChain: number;
  readonly chain: string;
  readonly cold_: readonly PreflightReport[];
  readonly warm_: readonly PreflightReport[];
}

async function measure(bench: Bench): Promise<Times> {
  const { profile, file } = await bench.gpuaas();
  const system = await askedSystem(profile.system);
  const argv = system.argv(profile, Object.keys(profile.nodes)[0] ?? null);
  const request = requestOf(system, argv);
  const [coldReports, warmReports]: [PreflightReport[], PreflightReport[]] = [[], []];
  // Whether it was healthy is a row of its own; a verdict is no breakage of the measurement.
  const asCommand = async (...more: string[]) =>
    JSON.parse(
      (
        await command(hopdrill, ['preflight', '--profile', file, '--json', ...more], {
          expect: [0, 1, 2],
        })
      ).stdout,
    ) as PreflightReport;
  const only = (id: string) => ({ ...request, flags: { ...request.flags, only: id } });
  await asCommand();
  const [one = '', other = ''] = await longestChains(system, request);
  bench.say(`longest chains: ${one}, ${other}`);
  const master = await sshMaster(bench, request);
  const script = (name: string, ...words: string[]) =>
    command(join(root, 'tools/bench', name), [...words, ...argv]);
  try {
    const times = await interleave(bench.rounds, {
      cold: async () => coldReports.push(await asCommand()),
      coldOne: () => asCommand('--only', one),
      coldOther: () => asCommand('--only', other),
      parallel: () => script('preflight-parallel.sh', '--master', master.path),
      warm: async () => warmReports.push(await runPreflight(system, request)),
      warmOne: () => runPreflight(system, only(one)),
      warmOther: () => runPreflight(system, only(other)),
      sequential: () => script('preflight-sequential.sh'),
    });
    const chains = [median(times.warmOne), median(times.warmOther)];
    return {
      ...times,
      coldChain: Math.max(median(times.coldOne), median(times.coldOther)),
      warmChain: Math.max(...chains),
      chain: chains[0]! >= chains[1]! ? one : other,
      cold_: coldReports,
      warm_: warmReports,
    };
  } finally {
    await master.close();
  }
}

function noteWhereTimeGoes(bench: Bench, seen: Times): void {
  const cold = median(seen.cold);
  const inside = median(seen.cold_.map((report) => report.duration_ms));
  bench.note(
    'preflight-cold',
    `its own longest chain is the one to ${seen.chain}; ${slowest(seen.cold_)}`,
  );
  bench.note(
    'preflight-cold-p50',
    `${round(cold - inside, 0)} ms are start of the process, imports and profile, ${round(inside, 0)} ms are the probes`,
  );
  bench.note(
    'preflight-warm',
    `its own longest chain is the one to ${seen.chain}; ${slowest(seen.warm_)}`,
  );
  bench.note('preflight-warm-p50', slowest(seen.warm_));
  bench.note(
    'script-parallel',
    'value is the script with &, wait and an SSH master that is open already; baseline is our cold preflight with a new connection',
  );
}

function timeRows(seen: Times): BenchRow[] {
  const [cold, warm] = [median(seen.cold), median(seen.warm)];
  const [sequential, parallel] = [median(seen.sequential), median(seen.parallel)];
  return [
    row({
      name: 'preflight-cold',
      value: cold,
      unit: 'ms',
      baseline: seen.coldChain,
      reach: '<= 1.3 x its own longest chain',
      ok: cold <= 1.3 * seen.coldChain,
    }),
    row({
      name: 'preflight-cold-p50',
      value: cold,
      unit: 'ms',
      baseline: 500,
      reach: '<= 500 ms',
      ok: cold <= 500,
    }),
    row({
      name: 'preflight-warm',
      value: warm,
      unit: 'ms',
      baseline: seen.warmChain,
      reach: '<= 1.3 x its own longest chain',
      ok: warm <= 1.3 * seen.warmChain,
    }),
    row({
      name: 'preflight-warm-p50',
      value: warm,
      unit: 'ms',
      baseline: 200,
      reach: '<= 200 ms',
      ok: warm <= 200,
    }),
    row({
      name: 'script-sequential',
      value: sequential,
      unit: 'ms',
      baseline: cold,
      reach: '>= 5 x our cold preflight',
      ok: sequential >= 5 * cold,
    }),
    row({
      name: 'script-parallel',
      value: parallel,
      unit: 'ms',
      baseline: cold,
      reach: '>= 1 x our cold preflight',
      ok: parallel >= cold,
    }),
  ];
}

/** The platform is healthy while it is measured, so every other verdict is a false alarm. */
function falseAlarmRow(bench: Bench, reports: readonly PreflightReport[]): BenchRow {
  const alarms = reports.filter((report) => report.result !== 'healthy');
  for (const report of alarms.slice(0, 3))
    bench.note(
      'false-alarms',
      `${report.result} ${report.hop ?? report.inconclusive_because.join('; ')}`,
    );
  return row({
    name: 'false-alarms',
    value: alarms.length,
    unit: `of ${reports.length}`,
    reach: '0 (200 in tests/prove/false-alarms)',
    ok: alarms.length === 0,
  });
}

async function run(bench: Bench): Promise<BenchRow[]> {
  const seen = await measure(bench);
  noteWhereTimeGoes(bench, seen);
  return [...timeRows(seen), falseAlarmRow(bench, [...seen.cold_, ...seen.warm_])];
}

export const preflightRows: Measurement = {
  name: 'preflight',
  rows: [
    'preflight-cold',
    'preflight-cold-p50',
    'preflight-warm',
    'preflight-warm-p50',
    'script-sequential',
    'script-parallel',
    'false-alarms',
  ],
  about: 'preflight cold and warm, its longest chain alone, the shell scripts',
  run,
};
