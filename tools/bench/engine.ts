// The engine on the smallest system: one experiment with its ledger on disk, ten of them in one
// command, and Chaos Toolkit's ten.
import { join } from 'node:path';
import { request } from '../../harness/drivers/http.ts';
import { genericFaults } from '../../harness/faults/index.ts';
import { planFault } from '../../harness/faults/plan-fault.ts';
import type { Profile } from '../../harness/records/profile.ts';
import { openEngine } from '../../harness/undo/engine.ts';
import { type Bench, type Measurement, row, runsIn, unmeasured } from './measurement.ts';
import { chaosToolkit } from './peers.ts';
import { command, hopdrill } from './processes.ts';
import { interleave, median, round, timed } from './statistics.ts';

const warmUp = 3;
const cut = { name: 'link.cut', params: { link: 'service', how: 'reset' } };

/**
 * Toxic in, HTTP probe, toxic out, read back; every step on disk before it happens. Gives
 * milliseconds by phase.
 */
async function experiment(
  profile: Profile,
  stateDir: string,
  runId: string,
): Promise<Record<string, number>> {
  const spent: Record<string, number> = {};
  const phase = async <T>(name: string, work: () => Promise<T>): Promise<T> => {
    let result: T;
    spent[name] = await timed(async () => (result = await work()));
    return result!;
  };
  const url = profile.endpoints.service ?? '';
  const engine = await phase('open', () =>
    openEngine({ profile, runId, stateDir, deadman: false }),
  );
  await phase('snapshot', () => engine.prepare([planFault(genericFaults, cut, profile, null)]));
  await phase('inject', () => engine.inject(0));
  const felt = await phase('probe', () =>
    request({ url, timeoutMs: 2000 }).then(
      () => false,
      () => true,
    ),
  );
  await phase('undo', () => engine.undo(0));
  const outcome = await phase('read back', () => engine.verify(0));
  const { clean } = await phase('close', () => engine.close());
  if (!felt || outcome.state !== 'verified' || !clean)
    throw new Error(`the experiment did not work: felt ${felt}, ${outcome.state}`);
  return spent;
}

async function one(bench: Bench) {
  const { profile } = await bench.oneHop();
  const stateDir = join(bench.work, 'engine-state');
  const phases: Record<string, number>[] = [];
  const rounds = Math.max(5, bench.rounds * 2);
  for (let turn = 0; turn < warmUp + rounds; turn += 1)
    phases.push(await experiment(profile, stateDir, `bench-${process.pid}-${turn}`));
  const counted = phases.slice(warmUp);
  const value = median(
    counted.map((spent) => Object.values(spent).reduce((sum, ms) => sum + ms, 0)),
  );
  const names = Object.keys(counted[0] ?? {});
  bench.note(
    'engine-one',
    names
      .map((name) => `${name} ${round(median(counted.map((spent) => spent[name] ?? 0)))} ms`)
      .join(', '),
  );
  return row({
    name: 'engine-one',
    value,
    unit: 'ms',
    baseline: 25,
    reach: '<= 25 ms',
    ok: value <= 25,
  });
}

async function ten(bench: Bench) {
  const { file, profile } = await bench.oneHop();
  const ours = () =>
    command(hopdrill, [
      'run',
      'one-hop/service-cut',
      '--repeat',
      '10',
      '--profile',
      file,
      '--no-deadman',
      '--json',
      ...runsIn(bench),
    ]);
  const reach = "<= 0.5 x Chaos Toolkit's ten";
  if (!bench.peers) {
    const times = await interleave(Math.min(3, bench.rounds), { ours });
    bench.note('engine-ten', 'ten whole scenarios, recovery proof included; compared with --peers');
    return { ...unmeasured('engine-ten', 'ms', reach), value: round(median(times.ours)) };
  }
  const peer = await chaosToolkit(bench, profile);
  const times = await interleave(Math.min(5, bench.rounds), { ours, peer: peer.ten });
  const [mine, theirs] = [median(times.ours), median(times.peer)];
  bench.note(
    'engine-ten',
    `${peer.version}, ten times "chaos run" of the same experiment, installed from PyPI`,
  );
  return row({
    name: 'engine-ten',
    value: mine,
    unit: 'ms',
    baseline: theirs,
    reach,
    ok: mine <= theirs / 2,
  });
}

export const engineRows: Measurement = {
  name: 'engine',
  rows: ['engine-one', 'engine-ten'],
  about:
    'one small experiment in the engine alone; ten in one command (with --peers beside Chaos Toolkit)',
  run: async (bench) => [await one(bench), await ten(bench)],
};
