import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import * as allure from 'allure-js-commons';
import { Status } from 'allure-js-commons';
import type { RuntimeMessage } from 'allure-js-commons/sdk';
import { getGlobalTestRuntime } from 'allure-js-commons/sdk/runtime';
import { attachable, labelsOf, type Step, stepOf } from '../reports/allure-mapping.ts';
import type { RunRecord } from './records/run-record.ts';
import type { Scenario } from './records/scenario.ts';
import { type Reason, reasonWords } from './records/verdict.ts';
import { runOn } from './run.ts';
import { catalogue } from './scenarios/catalogue.ts';
import { loadFiles, ScenarioMistakes } from './scenarios/load.ts';
import { vocabulary } from './scenarios/words.ts';
import { loadProfile } from './stack/state.ts';
import { scenarioWorker } from './vitest-worker.ts';

/** The vitest door to `runOn`: one file, one test, its evidence handed to Allure. */
const root = resolve(import.meta.dirname, '..');

export async function runAsTest(file: string): Promise<void> {
  const { scenarios, mistakes } = loadFiles([file], await vocabulary(), root);
  const scenario = scenarios[0];
  if (scenario === undefined || mistakes.length > 0) throw new ScenarioMistakes(mistakes);
  const { record } = scenario;
  // Without Allure's reporter there is nobody to tell, and it would complain about each call.
  const allureListens =
    (globalThis as { allureTestRuntime?: unknown }).allureTestRuntime !== undefined;
  if (allureListens) await label(record);
  const run = await runOnStackOfWorker(scenario);
  if (allureListens) await attach(run);
  if (run.verdict !== 'pass') throw expectationError(run);
}

/**
 * A worker that was told to end would be through with all files that are left within seconds, and
 * take them from the workers of other stacks: it lets those go on first.
 */
async function runOnStackOfWorker(scenario: Scenario): Promise<RunRecord> {
  const { stack, signal, leave, othersEnded } = await scenarioWorker(scenario.record.system);
  if (signal.aborted) {
    leave();
    await othersEnded();
  }
  const out = process.env.HOPDRILL_OUT;
  const options = { signal, ...(out !== undefined && { out }) };
  return runOn(scenario, { profile: loadProfile(stack), options });
}

async function label(record: Scenario['record']): Promise<void> {
  await allure.labels(...labelsOf(record.scenario, record));
  await allure.description(record.why);
  // A report is opened from disk, where a path of the repository leads nowhere: the entry itself
  // goes along.
  for (const id of record.source)
    await allure.attachment(
      `catalogue: ${id}`,
      JSON.stringify(catalogue().get(id) ?? null, null, 2),
      'application/json',
    );
}

async function attach(run: RunRecord): Promise<void> {
  const startedMs = Date.parse(run.started_at);
  for (const stage of run.stages) await stageStep(stepOf(startedMs + stage.start_ms, stage), stage);
  for (const { name, path, type } of attachable(run.dir))
    if (existsSync(path)) await allure.attachmentPath(name, path, { contentType: type });
}

/**
 * Allure's own `step` takes the time of its body; these are over already, so its messages are sent
 * with the times that were.
 */
async function stageStep(step: Step, { detail }: RunRecord['stages'][number]): Promise<void> {
  const runtime = getGlobalTestRuntime() as {
    sendMessage?(message: RuntimeMessage): PromiseLike<void>;
  };
  const { name, start, stop, status } = step;
  const parameters = [...step.parameters];
  await runtime.sendMessage?.({ type: 'step_start', data: { name, start } });
  await runtime.sendMessage?.({ type: 'step_metadata', data: { parameters } });
  await runtime.sendMessage?.({
    type: 'step_stop',
    data: {
      stop,
      status: status === 'broken' ? Status.BROKEN : Status.PASSED,
      ...(status === 'broken' && { statusDetails: { message: detail } }),
    },
  });
}

/** Its last frame is the line of the YAML that did not hold. */
export function expectationError(run: RunRecord): Error {
  const lines = run.reasons.map(reasonWords);
  const error = new Error(`${run.verdict}: ${lines.join('\n')}\nrun folder: ${run.dir}`);
  // Allure calls an assertion that does not hold "failed", and everything else "broken".
  error.name = run.verdict === 'fail' ? 'AssertionError' : 'ScenarioNotJudged';
  error.stack = `${error.name}: ${error.message}\n    at ${run.scenario} (${frame(run.reasons, run.expectation.file)})`;
  return error;
}

function frame(reasons: readonly Reason[], file: string): string {
  const at = reasons.find((reason) => reason.at !== undefined)?.at ?? file;
  const [path = file, line = '1', column = '1'] = at.split(':');
  return `${resolve(root, path)}:${line}:${column}`;
}
