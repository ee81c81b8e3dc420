import { existsSync, globSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import * as allure from 'allure-js-commons';
import { Status } from 'allure-js-commons';
import type { RuntimeMessage } from 'allure-js-commons/sdk';
import { getGlobalTestRuntime } from 'allure-js-commons/sdk/runtime';
import type { RunRecord } from './records/run-record.ts';
import type { Scenario } from './records/scenario.ts';
import type { Reason } from './records/verdict.ts';
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
  const { stack, signal, leave, othersEnded } = await scenarioWorker();
  if (signal.aborted) {
    leave();
    await othersEnded();
  }
  const out = process.env.HOPDRILL_OUT;
  const options = { signal, ...(out !== undefined && { out }) };
  return runOn(scenario, { profile: loadProfile(stack), options });
}

const severityOf = { P0: 'blocker', P1: 'critical', P2: 'normal', P3: 'minor' } as const;

async function label(record: {
  title: string;
  why: string;
  severity: keyof typeof severityOf;
  system: string;
  scenario: string;
  source: string[];
  tags: string[];
}): Promise<void> {
  await allure.epic(record.system);
  await allure.feature(record.scenario.split('/')[0] ?? record.system);
  await allure.story(record.title);
  await allure.severity(severityOf[record.severity]);
  await allure.description(record.why);
  if (record.tags.length > 0) await allure.tags(...record.tags);
  // A report is opened from disk, where a path of the repository leads nowhere: the entry itself
  // goes along.
  for (const id of record.source) {
    await allure.label('catalogue', id);
    await allure.attachment(
      `catalogue: ${id}`,
      JSON.stringify(catalogue().get(id) ?? null, null, 2),
      'application/json',
    );
  }
}

async function attach(run: RunRecord): Promise<void> {
  for (const stage of run.stages) await stageStep(Date.parse(run.started_at), stage);
  for (const file of globSync('{*,evidence/*}', { cwd: run.dir }).sort()) {
    const path = join(run.dir, file);
    const type = typeOf(file);
    if (type !== undefined && existsSync(path))
      await allure.attachmentPath(basename(file), path, { contentType: type });
  }
}

/**
 * Allure's own `step` takes the time of its body; these are over already, so its two messages are
 * sent with the times that were.
 */
async function stageStep(startedMs: number, stage: RunRecord['stages'][number]): Promise<void> {
  const runtime = getGlobalTestRuntime() as {
    sendMessage?(message: RuntimeMessage): PromiseLike<void>;
  };
  const start = Math.round(startedMs + stage.start_ms);
  await runtime.sendMessage?.({ type: 'step_start', data: { name: stage.stage, start } });
  const parameters = [
    ...(stage.detail === '' ? [] : [{ name: 'what', value: stage.detail.slice(0, 500) }]),
    { name: 'own', value: `${stage.own_ms} ms` },
  ];
  await runtime.sendMessage?.({ type: 'step_metadata', data: { parameters } });
  const failed = stage.status === 'failed';
  await runtime.sendMessage?.({
    type: 'step_stop',
    data: {
      stop: Math.round(start + stage.duration_ms),
      status: failed ? Status.BROKEN : Status.PASSED,
      ...(failed && { statusDetails: { message: stage.detail } }),
    },
  });
}

function typeOf(file: string): string | undefined {
  const types: Record<string, string> = {
    json: 'application/json',
    jsonl: 'text/plain',
    txt: 'text/plain',
    log: 'text/plain',
    png: 'image/png',
  };
  return types[file.split('.').at(-1) ?? ''];
}

/** Its last frame is the line of the YAML that did not hold. */
export function expectationError(run: RunRecord): Error {
  const lines = run.reasons.map(
    (reason) => `${reason.field}: expected ${reason.expected}, observed ${reason.observed}`,
  );
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
