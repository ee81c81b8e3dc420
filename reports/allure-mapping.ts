// What of a run is what in Allure; for results made by vitest's reporter and for those made from run
// folders.
import { globSync } from 'node:fs';
import { basename, extname, join } from 'node:path';
import type { RunRecord } from '../harness/records/run-record.ts';

/** What a scenario says of itself; a killed run has written it down, too. */
export interface Said {
  readonly title?: string;
  readonly why?: string;
  readonly severity?: string;
  readonly system?: string;
  readonly source?: readonly string[];
  readonly tags?: readonly string[];
}

const severities: Readonly<Record<string, string>> = {
  P0: 'blocker',
  P1: 'critical',
  P2: 'normal',
  P3: 'minor',
};

interface Named {
  readonly name: string;
  readonly value: string;
}

export function labelsOf(scenario: string, said: Said): Named[] {
  const label = (name: string, value: string | undefined): Named[] =>
    value === undefined ? [] : [{ name, value }];
  return [
    ...label('epic', said.system),
    ...label('feature', scenario.split('/')[0]),
    ...label('story', said.title),
    ...label('severity', severities[said.severity ?? '']),
    ...(said.tags ?? []).flatMap((tag) => label('tag', tag)),
    ...(said.source ?? []).flatMap((id) => label('catalogue', id)),
  ];
}

type Stage = Pick<RunRecord['stages'][number], 'duration_ms' | 'detail'> & {
  readonly stage: string;
  readonly status: string;
  readonly own_ms?: number;
};

export interface Step {
  readonly name: string;
  readonly status: 'passed' | 'broken';
  readonly start: number;
  readonly stop: number;
  readonly parameters: readonly Named[];
}

export function stepOf(startMs: number, stage: Stage): Step {
  const { detail, own_ms } = stage;
  return {
    name: stage.stage,
    status: stage.status === 'failed' ? 'broken' : 'passed',
    start: Math.round(startMs),
    stop: Math.round(startMs + stage.duration_ms),
    parameters: [
      ...(detail === '' ? [] : [{ name: 'what', value: detail.slice(0, 500) }]),
      ...(own_ms === undefined ? [] : [{ name: 'own', value: `${own_ms} ms` }]),
    ],
  };
}

const types: Readonly<Record<string, string>> = {
  '.json': 'application/json',
  '.jsonl': 'text/plain',
  '.txt': 'text/plain',
  '.log': 'text/plain',
  '.png': 'image/png',
};

/** Files of a run folder that go along. */
export function attachable(dir: string): { name: string; path: string; type: string }[] {
  return globSync('{*,evidence/*}', { cwd: dir })
    .sort()
    .flatMap((file) => {
      const type = types[extname(file)];
      return type === undefined ? [] : [{ name: basename(file), path: join(dir, file), type }];
    });
}
