import { outFolder, readArguments, WrongUsage } from './arguments.ts';

export const summary = 'run scenarios: break, name the hop, put back, prove recovery';
export const help = `Usage: hopdrill run [scenario|folder|glob ...] [options]

Runs each scenario through the whole flow on a running stack and ends with a table. Without a name all scenarios
of the platform's system. Ctrl-C undoes what is broken first; so does "hopdrill stop" from another terminal.

  --tag TAG          only scenarios with this tag (may be repeated)
  --severity P1      only this severity
  --repeat N         each one N times
  --shuffle SEED     in an order that the seed gives
  --stacks N         on N stacks side by side (those that are up)
  --stack NAME       on this stack (default: the only one of its system that is up)
  --profile FILE     on a platform that hopdrill did not start
  --node NAME        about this node of the platform, whichever the scenario names
  --out DIR          write the run folders there (default: reports/out)
  --no-deadman       allow a platform with no place for a dead-man or a watchdog
  --dry-run          only say what would run
  --keep-on-fail     leave the fault in when a run does not pass, until Ctrl-C; then repair, recover, verdict
  --json             one event a line on stdout, the summary last

Examples:
  hopdrill run {scenario}
  hopdrill run '{area}/*' --shuffle 7
  hopdrill run {other} --profile ./profile.yaml --json

Exit codes: 0 pass, 1 fail, 2 inconclusive, 3 dirty, 4 aborted, 64 wrong usage
(also a mistake in a scenario file), 70 internal error, 129/130/143 interrupted.
`;

const options = {
  tag: { type: 'string', multiple: true },
  severity: { type: 'string' },
  repeat: { type: 'string', default: '1' },
  shuffle: { type: 'string' },
  stacks: { type: 'string' },
  stack: { type: 'string' },
  profile: { type: 'string' },
  node: { type: 'string' },
  out: { type: 'string' },
  'no-deadman': { type: 'boolean', default: false },
  'dry-run': { type: 'boolean', default: false },
  'keep-on-fail': { type: 'boolean', default: false },
  json: { type: 'boolean', default: false },
} as const;

function read(argv: readonly string[]) {
  const { values, positionals } = readArguments('run', argv, options);
  for (const name of ['repeat', 'stacks'] as const) {
    const value = values[name];
    if (value !== undefined && !/^[1-9]\d{0,3}$/.test(value))
      throw new WrongUsage(
        `run: --${name} ${value}: a whole number from 1 to 9999 ("hopdrill run --help")`,
      );
  }
  const out = values.out === undefined ? undefined : outFolder('run', values.out);
  return { ...values, out, patterns: positionals };
}

export async function run(argv: readonly string[]): Promise<number> {
  const wanted = read(argv);
  const where = {
    stack: wanted.stack,
    stacks: wanted.stacks === undefined ? undefined : Number(wanted.stacks),
    profileFile: wanted.profile,
  };
  const [{ select }, { meant, profilesFor, profilesIfAny, systemOf }] = await Promise.all([
    import('./select.ts'),
    import('./profiles.ts'),
  ]);
  // A mistake in a scenario's name is told first, wherever it would have run.
  const chosen = await select({
    patterns: wanted.patterns,
    tags: wanted.tag ?? [],
    severity: wanted.severity,
    shuffle: wanted.shuffle,
    repeat: Number(wanted.repeat),
    ...meant(await profilesIfAny(where), wanted.node),
  });
  if (wanted['dry-run']) {
    const [{ progress }, { summaryEvent }] = await Promise.all([
      import('./progress.ts'),
      import('../../reports/summary.ts'),
    ]);
    const show = progress(wanted.json);
    for (const { record, file } of chosen)
      show.event({ event: 'would_run', scenario: record.scenario, file });
    show.event(summaryEvent([]));
    return 0;
  }
  const { runAll } = await import('./run-loop.ts');
  return runAll(chosen, {
    profiles: await profilesFor({ ...where, system: systemOf('run', chosen, wanted.patterns) }),
    deadman: !wanted['no-deadman'],
    keepOnFail: wanted['keep-on-fail'],
    out: wanted.out,
    json: wanted.json,
  });
}
