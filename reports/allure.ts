import { randomUUID } from 'node:crypto';
import { copyFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { extname, join } from 'node:path';
import { reasonWords } from '../harness/records/verdict.ts';
import { attachable, labelsOf, type Said, type Step, stepOf } from './allure-mapping.ts';
import type { FolderRead } from './records.ts';

/**
 * Allure results from run folders: for those of killed runs, which left no result of vitest's, and
 * for `report --allure`.
 */
export function appendKilled(results: string, folders: readonly FolderRead[]): void {
  writeResults(
    results,
    folders.filter(({ record }) => record === null || record.ended_by?.kind === 'signal'),
  );
}

export function writeResults(results: string, folders: readonly FolderRead[]): void {
  if (folders.length > 0) mkdirSync(results, { recursive: true });
  for (const folder of folders) {
    const uuid = randomUUID();
    writeFileSync(
      join(results, `${uuid}-result.json`),
      JSON.stringify(resultOf(uuid, results, folder)),
    );
  }
}

function resultOf(uuid: string, results: string, folder: FolderRead): object {
  const said: Said = folder.record ?? saidIn(folder.dir);
  const steps = stepsOf(folder);
  return {
    uuid,
    historyId: folder.scenario,
    name: folder.scenario,
    fullName: folder.scenario,
    ...(said.why !== undefined && { description: said.why }),
    ...outcomeOf(folder),
    stage: 'finished',
    start: steps[0]?.start,
    stop: steps.at(-1)?.stop,
    labels: labelsOf(folder.scenario, said),
    steps: steps.map((step) => ({ ...step, steps: [], attachments: [] })),
    attachments: attachmentsOf(folder.dir, results),
  };
}

function outcomeOf({ dir, last, problem, record }: FolderRead): {
  status: string;
  statusDetails?: { message: string };
} {
  if (record?.verdict === 'pass') return { status: 'passed' };
  if (record === null)
    return {
      status: 'broken',
      statusDetails: {
        message: `${problem ?? `killed: no verdict; ended in ${last ?? 'nothing'}`}; run folder ${dir}`,
      },
    };
  if (record.ended_by?.kind === 'signal')
    return {
      status: 'broken',
      statusDetails: { message: `interrupted, and undone; run folder ${dir}` },
    };
  const lines = record.reasons.map(
    (reason) => `${reason.at ?? record.expectation.file} ${reasonWords(reason)}`,
  );
  return {
    status: record.verdict === 'fail' ? 'failed' : 'broken',
    statusDetails: { message: `${record.verdict}: ${lines.join('\n')}\nrun folder: ${dir}` },
  };
}

function saidIn(dir: string): Said {
  try {
    return (JSON.parse(readFileSync(join(dir, 'scenario.json'), 'utf8')) as { record: Said })
      .record;
  } catch {
    return {};
  }
}

function stepsOf({ dir, record }: FolderRead): Step[] {
  if (record !== null)
    return record.stages.map((stage) =>
      stepOf(Date.parse(record.started_at) + stage.start_ms, stage),
    );
  return eventsOf(dir).flatMap(({ at, stage, status, duration_ms, detail }) =>
    stage === undefined || status === undefined || status === 'start'
      ? []
      : [
          stepOf(Date.parse(at) - (duration_ms ?? 0), {
            stage,
            status,
            duration_ms: duration_ms ?? 0,
            detail: detail ?? '',
          }),
        ],
  );
}

interface StageLine {
  readonly at: string;
  readonly stage?: string;
  readonly status?: string;
  readonly duration_ms?: number | null;
  readonly detail?: string | null;
}

/** The last line may be torn. */
function eventsOf(dir: string): StageLine[] {
  const file = join(dir, 'events.jsonl');
  if (!existsSync(file)) return [];
  return readFileSync(file, 'utf8')
    .split('\n')
    .flatMap((line) => {
      try {
        const event = JSON.parse(line) as StageLine & { event: string };
        return event.event === 'stage' ? [event] : [];
      } catch {
        return [];
      }
    });
}

function attachmentsOf(
  dir: string,
  results: string,
): { name: string; source: string; type: string }[] {
  return attachable(dir).map(({ name, path, type }) => {
    const source = `${randomUUID()}-attachment${extname(name)}`;
    copyFileSync(path, join(results, source));
    return { name, source, type };
  });
}
