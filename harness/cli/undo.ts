import type { SweepReport } from '../undo/sweep.ts';
import { mustBeKnown, readOptions } from './arguments.ts';

export const summary = 'take back what a crashed run left';
export const help = `Usage: hopdrill undo [--stack NAME] [--profile FILE] [--run ID] [--dry-run] [--json]

Reads the ledgers of this engine and the marks on the targets, takes back every fault that is still there, and proves it
by reading back. A run whose process is alive is left alone. Only what carries a run id of ours is ever removed.

Options:
  --stack NAME   only this stack
  --profile FILE look for marks on this platform too, one that hopdrill did not start
  --run ID       only this run
  --dry-run      say what would be done, touch nothing
  --json         one JSON document on stdout

Examples:
  hopdrill undo
  hopdrill undo --stack default --dry-run
  hopdrill undo --profile ./profile.yaml

Exit codes: 0 nothing is left, 3 something is unproven or could not be searched, 64 wrong usage, 70 internal error.
`;

export async function run(argv: readonly string[]): Promise<number> {
  const options = readOptions('undo', argv, {
    stack: { type: 'string' },
    profile: { type: 'string' },
    run: { type: 'string' },
    'dry-run': { type: 'boolean', default: false },
    json: { type: 'boolean', default: false },
  });
  const [
    { sweep },
    { listStacks, loadProfiles },
    { readProfile },
    { knownRuns },
    { markPlacesOf },
    { knownFaults },
  ] = await Promise.all([
    import('../undo/sweep.ts'),
    import('../stack/state.ts'),
    import('./read-profile.ts'),
    import('../undo/known.ts'),
    import('../faults/marks.ts'),
    import('../systems/index.ts'),
  ]);
  const stack = options.stack === undefined ? {} : { stack: options.stack };
  const stacks = listStacks().filter(
    (one) => one.phase === 'up' && (options.stack === undefined || one.stack === options.stack),
  );
  const foreign = options.profile === undefined ? [] : [await readProfile(options.profile)];
  // Ledgers are taken back all the same; what is not searched for marks is said.
  const ofStacks = loadProfiles(stacks.map((one) => one.stack));
  const profiles = [...ofStacks.profiles, ...foreign];
  const known = [...listStacks(), ...foreign].map((one) => one.stack);
  if (options.stack !== undefined && !known.includes(options.stack))
    mustBeKnown('--stack', options.stack, [
      ...known,
      ...(await knownRuns()).flatMap((one) => one.stack ?? []),
    ]);
  const only = options.run === undefined ? {} : { run: options.run };
  const places = markPlacesOf(await knownFaults());
  const swept = await sweep({ ...stack, ...only, dryRun: options['dry-run'], profiles, places });
  const problems = ofStacks.problems.map((problem) => `not searched: ${problem}`);
  const report = {
    ...swept,
    lines: [...swept.lines, ...problems],
    unsearched: [...swept.unsearched, ...problems],
  };
  // Asked afterwards: a run of another machine has no ledger here, and left its marks on the
  // targets all the same.
  if (
    options.run !== undefined &&
    report.runs.length === 0 &&
    !report.leftovers.some((left) => left.run === options.run)
  )
    mustBeKnown(
      '--run',
      options.run,
      (await knownRuns()).map((one) => one.run),
    );
  const unproven = report.unproven.length + report.unsearched.length;
  const code = unproven === 0 ? 0 : 3;
  tell(report, unproven, options);
  return code;
}

function tell(
  report: SweepReport,
  unproven: number,
  options: { readonly json: boolean; readonly 'dry-run': boolean },
): void {
  if (options.json)
    process.stdout.write(
      `${JSON.stringify({ ok: unproven === 0, dry_run: options['dry-run'], ...report }, null, 2)}\n`,
    );
  else {
    for (const line of report.lines) process.stdout.write(`${line}\n`);
    process.stdout.write(
      unproven === 0
        ? `nothing is left${report.lines.length === 0 ? ', and nothing was to be done' : ''}\n`
        : `unproven: ${unproven}\n`,
    );
  }
}
