import { randomUUID } from 'node:crypto';
import {
  copyFileSync,
  existsSync,
  globSync,
  mkdirSync,
  readFileSync,
  writeFileSync,
} from 'node:fs';
import { basename, extname, join } from 'node:path';
import type { RunRecord } from '../harness/records/run-record.ts';
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

const severities: Readonly<Record<string, string>> = {
  P0: 'blocker',
  P1: 'critical',
  P2: 'normal',
  P3: 'minor',
};

/** What a scenario says of itself; a killed run has written it down, too. */
interface Said {
  readonly title?: string;
  readonly why?: string;
  readonly severity?: string;
  readonly system?: string;
  readonly source?: readonly string[];
  readonly tags?: readonly string[];
}

function resultOf(uuid: string, results: string, folder: FolderRead): object {
  const said: Said = folder.record ?? saidIn(folder.dir);
  const [feature = folder.scenario] = folder.scenario.split('/');
  const steps = stepsOf(folder);
  const label = (name: string, value: string | undefined) =>
    value === undefined ? [] : [{ name, value }];
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
    labels: [
      ...label('epic', said.system),
      ...label('feature', feature),
      ...label('story', said.title),
      ...label('severity', severities[said.severity ?? '']),
      ...(said.tags ?? []).flatMap((tag) => label('tag', tag)),
      ...(said.source ?? []).flatMap((id) => label('catalogue', id)),
    ],
    steps,
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
    (reason) =>
      `${reason.at ?? record.expectation.file} ${reason.field}: expected ${reason.expected}, observed ${reason.observed}`,
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

interface Step {
  readonly name: string;
  readonly status: string;
  readonly start: number;
  readonly stop: number;
  readonly steps: readonly never[];
  readonly attachments: readonly never[];
  readonly parameters: readonly { name: string; value: string }[];
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

function stepOf(
  start: number,
  stage: Pick<RunRecord['stages'][number], 'duration_ms' | 'detail'> & {
    stage: string;
    status: string;
  },
): Step {
  return {
    name: stage.stage,
    status: stage.status === 'failed' ? 'broken' : 'passed',
    start: Math.round(start),
    stop: Math.round(start + stage.duration_ms),
    steps: [],
    attachments: [],
    parameters: stage.detail === '' ? [] : [{ name: 'what', value: stage.detail.slice(0, 500) }],
  };
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

const types: Readonly<Record<string, string>> = {
  '.json': 'application/json',
  '.jsonl': 'text/plain',
  '.txt': 'text/plain',
  '.log': 'text/plain',
  '.png': 'image/png',
};

function attachmentsOf(
  dir: string,
  results: string,
): { name: string; source: string; type: string }[] {
  return globSync('{*,evidence/*}', { cwd: dir })
    .sort()
    .flatMap((file) => {
      const type = types[extname(file)];
      if (type === undefined) return [];
      const source = `${randomUUID()}-attachment${extname(file)}`;
      copyFileSync(join(dir, file), join(results, source));
      return [{ name: basename(file), source, type }];
    });
}
