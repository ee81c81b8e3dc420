import { planScenario } from '../plan/plan-scenario.ts';
import { exitCodes } from '../records/exit-codes.ts';
import type { RunPlan } from '../records/plan.ts';
import { loadSystem } from '../systems/index.ts';
import { actionWords } from './action-words.ts';
import { readArguments, WrongUsage } from './arguments.ts';
import { meant, profilesFor, profilesIfAny, systemOf } from './profiles.ts';
import { select } from './select.ts';

export const summary = 'say what a run would do; nothing is touched';
export const help = `Usage: hopdrill plan [scenario|folder|glob ...] [--stack NAME | --profile FILE] [--node NAME] [--no-deadman] [--json]

For each scenario: what will be done to which target, how it is undone, what is cut, what may be felt, and how long it may take.
Without a name all scenarios of the platform's system.

  --stack NAME       on this stack (default: the only one of its system that is up)
  --profile FILE     on a platform that hopdrill did not start
  --node NAME        about this node of the platform, whichever the scenario names
  --no-deadman       allow a platform with no place for a dead-man or a watchdog
  --json             one JSON document on stdout

Examples:
  hopdrill plan {scenario}
  hopdrill plan '{area}/*' --profile ./profile.yaml

Exit codes: 0 nothing refuses, 4 a plan is refused (and why), 64 wrong usage, 70 internal error.
`;

const options = {
  stack: { type: 'string' },
  profile: { type: 'string' },
  node: { type: 'string' },
  'no-deadman': { type: 'boolean', default: false },
  json: { type: 'boolean', default: false },
} as const;

export async function run(argv: readonly string[]): Promise<number> {
  const { values, positionals } = readArguments('plan', argv, options);
  const where = { stack: values.stack, profileFile: values.profile };
  const scenarios = await select({
    patterns: positionals,
    ...meant(await profilesIfAny(where), values.node),
  });
  const [profile] = await profilesFor({
    ...where,
    system: systemOf('plan', scenarios, positionals),
  });
  if (profile === undefined) throw new WrongUsage('plan: no stack is up');
  const plans: RunPlan[] = [];
  for (const scenario of scenarios)
    plans.push(
      planScenario(
        scenario,
        profile,
        await loadSystem(scenario.record.system),
        !values['no-deadman'],
      ).run,
    );
  process.stdout.write(
    values.json ? `${JSON.stringify({ plans }, null, 2)}\n` : plans.map(words).join('\n'),
  );
  return plans.some((plan) => plan.refusals.length > 0) ? exitCodes.aborted : 0;
}

function words(plan: RunPlan): string {
  const list = (title: string, lines: readonly string[]): string[] =>
    lines.map((line, index) => `  ${(index === 0 ? title : '').padEnd(9)} ${line}`);
  return `${[
    `${plan.scenario} (${plan.severity}) on ${plan.stack}, ${plan.environment}`,
    ...list(
      'break',
      plan.faults.map(
        (fault) => `${fault.summary}${fault.reaches === undefined ? '' : ` (${fault.reaches})`}`,
      ),
    ),
    ...list('do', actions(plan.faults, 'inject')),
    ...list('target', plan.targets),
    ...list('cuts', plan.cuts),
    ...list(
      'lifeline',
      plan.lifelines.map((one) => `${one.target}: ${one.way}${one.survives ? '' : ' (CUT)'}`),
    ),
    ...list('felt by', plan.blast_radius),
    ...list('guard', plan.guards),
    ...list(
      'repair',
      plan.repair.map((one) => `${one.name}: ${one.command}`),
    ),
    ...list('undo', actions([...plan.faults].reverse(), 'undo')),
    ...list('prove', plan.proofs),
    ...list('watch', [...plan.invariants, `database: ${plan.audit}`]),
    ...list('budget', [
      `effect ${s(plan.budgets.effect_ms)}, detect ${s(plan.budgets.detect_ms)}, user's view ${s(plan.budgets.user_ms)}, recover ${s(plan.budgets.recover_ms)}, in all ${s(plan.budgets.total_ms)}`,
    ]),
    ...list('REFUSED', plan.refusals),
  ].join('\n')}\n`;
}

/** What is done for each fault, in the order in which it runs. */
const actions = (faults: RunPlan['faults'], phase: 'inject' | 'undo'): string[] =>
  faults.flatMap((fault) => fault[phase].map(actionWords));

const s = (ms: number): string => `${(ms / 1000).toFixed(0)} s`;
