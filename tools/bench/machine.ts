// Stacks and clones: how long until something is green, and until a fresh clone has its first
// verdict.
import { join } from 'node:path';
import { root } from '../child.ts';
import { type Bench, type Measurement, row, runsIn, unmeasured } from './measurement.ts';
import { command, hopdrill } from './processes.ts';
import { median, round } from './statistics.ts';

const noClone = unmeasured('fresh-clone', 's', '<= 300 s to the first verdict');
const noCatalogue = unmeasured('catalogue', 's', '<= 8 s a scenario with 2 stacks');

async function stackUp(bench: Bench) {
  const seconds: number[] = [];
  const words: string[] = [];
  for (let turn = 0; turn < Math.min(5, Math.ceil(bench.rounds / 2)); turn += 1) {
    const stack = `bench-up-${process.pid}`;
    try {
      const up = await command(hopdrill, ['up', '--stack', stack]);
      seconds.push(up.ms / 1000);
      words.push(`${up.stdout}\n${up.stderr}`);
    } finally {
      await command(hopdrill, ['down', '--stack', stack]);
    }
  }
  const value = median(seconds);
  const last = words.at(-1) ?? '';
  bench.note(
    'stack-up',
    [...last.matchAll(/^\[\s*([\d.]+ s)\] (.*)$/gm)]
      .map(([, at, what]) => `${what} at ${at}`)
      .join(', '),
  );
  return [
    row({
      name: 'stack-up',
      value,
      unit: 's',
      baseline: 8,
      reach: '<= 8 s to a green baseline',
      ok: value <= 8,
    }),
  ];
}

/**
 * The first verdict of a run of `npm run chaos` in a clone that nothing was done in. What the
 * machine keeps (engine, images) stays.
 */
async function freshClone(bench: Bench) {
  const clone = join(bench.work, 'clone');
  const began = performance.now();
  let first: number | null = null;
  await command('git', ['clone', '--quiet', root, clone]);
  const ended = await command(
    'npm',
    ['run', 'chaos', '--', 'scenarios/gpuaas/terminal/public-route-missing.yaml'],
    {
      cwd: clone,
      expect: [0, 1, 2],
      onLine: (line) => {
        if (/[✓×] |^\s*(pass|fail|inconclusive)\s/.test(line)) first ??= performance.now() - began;
      },
    },
  );
  const value = (first ?? ended.ms) / 1000;
  bench.note(
    'fresh-clone',
    `npm run chaos with one scenario ended with ${ended.code} after ${round(ended.ms / 1000)} s; engine and images were there before`,
  );
  const { name, unit, reach } = noClone;
  return [row({ name, value, unit, baseline: 300, reach, ok: value <= 300 && ended.code === 0 })];
}

/** Every scenario on two stacks, as the gate runs them. */
async function catalogue(bench: Bench) {
  const ended = await command('npm', ['run', 'chaos', '--', '--stacks', '2', ...runsIn(bench)], {
    expect: [0, 1, 2, 3],
  });
  const perScenario = Number(/([\d.]+) s a scenario/.exec(ended.stdout)?.[1] ?? Number.NaN);
  const closing = /^\d+ passed, .*$/m.exec(ended.stdout)?.[0] ?? `exit ${ended.code}`;
  bench.note('catalogue', `${closing}; wall with up and down ${round(ended.ms / 1000)} s`);
  if (Number.isNaN(perScenario)) return [noCatalogue];
  const { name, unit, reach } = noCatalogue;
  return [
    row({
      name,
      value: perScenario,
      unit,
      baseline: 8,
      reach,
      ok: perScenario <= 8 && ended.code === 0,
    }),
  ];
}

export const machineRows: readonly Measurement[] = [
  {
    name: 'stack',
    rows: ['stack-up'],
    about: 'a stack of its own, up to green, images present',
    run: stackUp,
  },
  {
    name: 'fresh-clone',
    rows: ['fresh-clone'],
    about: 'git clone, npm run chaos with one scenario, until its verdict',
    onRequest: { option: 'clone', row: noClone },
    run: freshClone,
  },
  {
    name: 'catalogue',
    rows: ['catalogue'],
    about: 'npm run chaos with two stacks (minutes)',
    onRequest: { option: 'catalogue', row: noCatalogue },
    run: catalogue,
  },
  {
    name: 'sigkill',
    rows: ['sigkill'],
    about: 'where the proof of nothing left after SIGKILL is',
    run: (bench) => {
      bench.note(
        'sigkill',
        'not a duration: tests/prove kills the runner at every ledger step for each undo kind (npm run prove -- sigkill)',
      );
      return Promise.resolve([unmeasured('sigkill', 'leftovers', '0 at every ledger step')]);
    },
  },
];
