// Whole scenarios: the harness's own time by stage, and the memory of its processes while they run.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { RunEvent, SummaryEvent } from '../../harness/records/events.ts';
import { type RunRecord, runRecord } from '../../harness/records/run-record.ts';
import { type Bench, type Measurement, row, runsIn } from './measurement.ts';
import { command, type Finished, hopdrill } from './processes.ts';
import { median, round } from './statistics.ts';

/**
 * One of each kind: a unit, an ingress file, a container; short ones, because only our own time is
 * looked at.
 */
const scenarios = [
  'node-agent/ops-ssh-refused',
  'terminal/public-route-missing',
  'terminal/redis-unavailable',
];

export const eventsOf = (stdout: string): RunEvent[] =>
  stdout
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as RunEvent);

function recordsOf(events: readonly RunEvent[]): RunRecord[] {
  return events.flatMap((event) =>
    event.event === 'verdict'
      ? runRecord.parse(JSON.parse(readFileSync(join(event.dir, 'verdict.json'), 'utf8')))
      : [],
  );
}

/** Milliseconds of our own by stage, the largest first. */
function byStage(records: readonly RunRecord[]): string {
  const names = [
    ...new Set(records.flatMap((record) => record.stages.map((stage) => stage.stage))),
  ];
  const own = names.map((name) => ({
    name,
    ms: median(
      records.map((record) =>
        record.stages
          .filter(({ stage }) => stage === name)
          .reduce((sum, { own_ms }) => sum + own_ms, 0),
      ),
    ),
  }));
  const outside = median(
    records.map(
      (record) => record.own_ms - record.stages.reduce((sum, stage) => sum + stage.own_ms, 0),
    ),
  );
  const parts = [...own, { name: 'between stages', ms: outside }].sort(
    (one, other) => other.ms - one.ms,
  );
  return parts.map(({ name, ms }) => `${name} ${round(ms)}`).join(', ');
}

/**
 * Run 10 against run 5: the first ones of a process load and compile, and say nothing about what
 * grows.
 */
const flatRuns = 10;
const flatFrom = 5;

/** The peak of each of ten runs of one scenario, one after another in one process. */
async function peaksOf(stack: string, out: readonly string[]): Promise<number[]> {
  const ends: number[] = [];
  const argv = [
    'run',
    scenarios[2]!,
    '--repeat',
    String(flatRuns),
    '--stack',
    stack,
    '--json',
    ...out,
  ];
  const onLine = (line: string, readings: number) => {
    if (line.includes('"event":"verdict"')) ends.push(readings);
  };
  const { memory } = await command(hopdrill, argv, { memory: true, expect: [0, 1, 2], onLine });
  return ends.map((end, index) => Math.max(0, ...memory.slice(ends[index - 1] ?? 0, end)));
}

export const runOnce = (stack: string, repeat: number, out: readonly string[]): Promise<Finished> =>
  command(
    hopdrill,
    ['run', ...scenarios, '--repeat', String(repeat), '--stack', stack, '--json', ...out],
    {
      memory: true,
      expect: [0, 1, 2],
    },
  );

async function run(bench: Bench) {
  const { stack } = await bench.gpuaas();
  const repeat = Math.max(1, Math.min(3, Math.round(bench.rounds / 4)));
  const done = await runOnce(stack, repeat, runsIn(bench));
  const events = eventsOf(done.stdout);
  const records = recordsOf(events);
  const summary = events.at(-1) as SummaryEvent;
  const own = median(records.map((record) => record.own_ms));
  const stopped = records.filter((record) => record.verdict !== 'pass');
  bench.note(
    'own-time',
    `by stage, ms: ${byStage(records)}; wall ${round(median(records.map((record) => record.duration_ms)) / 1000)} s; verdict ${summary.verdict}${stopped.map((record) => `, ${record.scenario} ${record.verdict}`).join('')}`,
  );
  const peaks = await peaksOf(stack, runsIn(bench));
  const [middle = 0, last = 0] = [peaks[flatFrom - 1], peaks.at(-1)];
  const peak = Math.max(...done.memory, ...peaks);
  bench.note(
    'memory',
    `${done.memory.length} readings, one a second, of "hopdrill run" with ${records.length} scenarios; watchdogs included`,
  );
  bench.note(
    'memory-flat',
    `peaks of ${peaks.length} runs of ${scenarios[2]} in one process, MB: ${peaks.map((mb) => round(mb, 0)).join(' ')}; tools/ten-runs.ts compares whole catalogues`,
  );
  return [
    row({
      name: 'own-time',
      value: own,
      unit: 'ms',
      baseline: 100,
      reach: '<= 100 ms a scenario',
      ok: own <= 100,
    }),
    row({
      name: 'memory',
      value: peak,
      unit: 'MB',
      baseline: 300,
      reach: '<= 300 MB summed PSS',
      ok: peak <= 300,
    }),
    row({
      name: 'memory-flat',
      value: last,
      unit: 'MB',
      baseline: middle,
      reach: `run ${flatRuns} <= 1.1 x run ${flatFrom}`,
      ok: peaks.length === flatRuns && last <= 1.1 * middle,
    }),
  ];
}

export const scenarioRows: Measurement = {
  name: 'scenarios',
  rows: ['own-time', 'memory', 'memory-flat'],
  about: 'three whole scenarios: our own time by stage, memory',
  run,
};
