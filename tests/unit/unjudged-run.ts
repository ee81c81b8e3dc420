// The smallest run that can be judged: one fault, named as it should be, put back and recovered.
import type { Expectation } from '../../harness/records/expectation.ts';
import type { Observation, Seen, UnjudgedRun, UserSeen } from '../../harness/records/run-record.ts';

export const seen = (over: Partial<Seen> = {}): Seen => ({
  at: '',
  result: 'failed',
  hop: 'h',
  signal: 's',
  cause: 'c',
  confidence: 'high',
  confidence_because: [],
  also_failing: [],
  because: [],
  duration_ms: 1,
  ...over,
});

export const observation = (over: Partial<Observation> = {}): Observation => ({
  preflights: [seen()],
  judged: seen(),
  user: null,
  history: [],
  unread: [],
  still_active: true,
  detected_after_ms: 1,
  limit_ms: 30_000,
  ...over,
});

const expected: Expectation['expect'] = {
  hop: 'h',
  signal: 's',
  cause: 'c',
  confidence: 'high',
  within: 'default',
  never: [],
};

export const expectation = (
  expect: Partial<Expectation['expect']> = {},
  over: Partial<Expectation> = {},
): Expectation => ({
  file: 'a.yaml',
  expect: { ...expected, ...expect },
  proof: ['preflight-green'],
  positions: {
    ...{ 'expect.hop': '3:8', 'expect.signal': '4:11', 'expect.also': '9:1' },
    ...{ 'expect.never.0': '10:3', 'recover.proof.0': '11:3', 'source.0': '2:9' },
  },
  demanded: [],
  audit: 'watched',
  ...over,
});

export const run = (over: Partial<UnjudgedRun> = {}): UnjudgedRun => ({
  schema_version: 2,
  ...{ run_id: 'r', scenario: 'a', title: 't', why: 'w', source: ['x'], tags: [] },
  ...{ severity: 'P1', system: 'one-hop', stack: 's', node: null, dir: '/d' },
  ...{ started_at: '', ended_at: '', duration_ms: 1, own_ms: 1 },
  expectation: expectation(),
  refused: null,
  baseline: {
    green: true,
    detail: 'healthy',
    seen: seen({ result: 'healthy', hop: null, signal: null, cause: null, confidence: null }),
  },
  effect: [{ name: 'f', ok: true, detail: '' }],
  observation: observation(),
  watched: [],
  evidence: [],
  repairs: [{ name: 'undo f', ok: true, detail: '' }],
  readback: [{ name: 'f', ok: true, detail: '' }],
  differences: [],
  recovery: { recovered: true, after_ms: 1, proofs: [] },
  audit: { watched: true, until: null, edits: [], problem: null },
  invariants: [],
  teardown: [],
  ended_by: null,
  errors: [],
  stages: [],
  attachments: [],
  ...over,
});

export const pageWords = {
  code: 'gone',
  message: 'Gone.',
  next: 'Try again.',
  correlation_id: 'page-1',
};

/** A user whose terminal and page say that it is gone, as the expectation below wants it. */
export const user: UserSeen = {
  ...{ state: 'normal', access: 'error', message: 'gone', correlation_id: 'c', after_ms: 9 },
  ...{ found_in: ['audit'], page_unseen: null },
  page: { state: 'error', ...pageWords, found_in: ['log'] },
};
export const expectUser = { state: 'normal', access: 'error', page: { shows: 'gone' } } as const;
