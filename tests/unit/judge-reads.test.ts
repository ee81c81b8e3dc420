// Every field that the judge reads can change what it says: a field that cannot is no part of the
// record. Which fields it reads is recorded while it judges.
import { expect, test } from 'vitest';
import { judge } from '../../harness/judge/judge.ts';
import { type UnjudgedRun, type UserSeen, unjudgedRun } from '../../harness/records/run-record.ts';
import {
  expectation,
  expectUser,
  observation,
  pageWords,
  run,
  seen,
  user,
} from './unjudged-run.ts';

const withUser = (over: Partial<UserSeen> = {}): Partial<UnjudgedRun> => ({
  expectation: expectation({ user: { ...expectUser } }),
  observation: observation({ user: { ...user, ...over } }),
});
const healthy = seen({
  ...{ result: 'healthy', hop: null, signal: null, cause: null, confidence: null },
});
const alarm = seen({ hop: 'x' });
const green = (over: Partial<UnjudgedRun['observation'] & object> = {}): Partial<UnjudgedRun> => ({
  expectation: expectation({
    ...{ hop: 'none', signal: undefined, cause: undefined },
    ...{ result: 'healthy', history: ['recovering'], also: ['y'] },
  }),
  observation: observation({
    ...{ preflights: [healthy], judged: null, detected_after_ms: null, history: ['recovering'] },
    ...over,
  }),
});
const check = (ok: boolean | null) => [{ name: 'n', ok, detail: 'd' }];
const never = { expectation: expectation({ never: ['n'] }) };
const demand = { kind: 'evidence', text: 't', path: 'source.0', not_covered: null } as const;
const demanding = (...sources: string[]): Partial<UnjudgedRun> => ({
  expectation: expectation({}, { demanded: [{ ...demand, sources }] }),
});
const unseen = { why: 'no browser', declared: false };

/** By name, what each is about; every one is what a run could have stored. */
const runs: Readonly<Record<string, Partial<UnjudgedRun>>> = {
  passed: {},
  wrong: {
    observation: observation({ judged: seen({ hop: 'a', signal: 'b', also_failing: ['z'] }) }),
  },
  unsure: {
    observation: observation({ judged: seen({ confidence: 'low', confidence_because: ['w'] }) }),
  },
  late: { observation: observation({ detected_after_ms: 40_000 }) },
  unclassified: {
    observation: observation({
      judged: null,
      preflights: [seen({ result: 'inconclusive', because: ['ssh'] })],
    }),
  },
  green: green(),
  alarmed: green({ preflights: [alarm, healthy] }),
  unrecorded: green({ history: ['other'] }),
  user: withUser(),
  'user unseen': { ...withUser(), observation: observation({ user: null }) },
  'user unread': {
    ...withUser(),
    observation: observation({ unread: [{ view: 'user', why: 'w' }] }),
  },
  'history unread': green({ history: [], unread: [{ view: 'history', why: 'w' }] }),
  'user elsewhere': withUser({ state: null, access: null, message: 'no answer' }),
  'user without page': withUser({ page: null, page_unseen: unseen }),
  'user lost': withUser({ found_in: [] }),
  'page lost': withUser({ page: { state: 'error', ...pageWords, found_in: [] } }),
  'page empty': withUser({
    page: { state: 'error', ...pageWords, message: '', found_in: ['log'] },
  }),
  'must-not broken': { ...never, invariants: check(false) },
  'must-not unread': { ...never, invariants: check(null) },
  'must-not before the end': { ...never, invariants: null, watched: check(false) },
  'no effect': { effect: check(false) },
  'no evidence': { ...demanding('n'), evidence: check(false) },
  'nothing shows it': demanding(),
  refused: { refused: { because: ['b'], left: ['l'] } },
  'not green': { baseline: { green: false, detail: 'd', seen: healthy } },
  'step broke': { errors: [{ stage: 'observe', message: 'm' }] },
  'undo broke': { errors: [{ stage: 'readback', message: 'm' }] },
  'repair failed': { repairs: check(false) },
  'repair broke': { repairs: check(null) },
  'not back': { readback: check(false) },
  'not recovered': { recovery: { recovered: false, after_ms: null, proofs: check(false) } },
  'proof unread': { recovery: { recovered: false, after_ms: null, proofs: check(null) } },
  edited: { audit: { watched: true, until: null, edits: ['e'], problem: null } },
  'audit ended': { audit: { watched: false, until: 'u', edits: [], problem: 'p' } },
  differs: { differences: ['d'] },
  'not closed': { teardown: ['t'] },
  interrupted: { ended_by: { kind: 'signal', name: 'SIGINT' } },
  guarded: { ended_by: { kind: 'guard', name: 'g', expected: 'e', observed: 'o' } },
};
const stored = Object.entries(runs).map(
  ([name, over]) => [name, unjudgedRun.parse(run(over))] as const,
);

type Path = readonly string[];
const get = (value: unknown, path: Path): unknown =>
  path.reduce<unknown>((inner, key) => (inner as Record<string, unknown> | null)?.[key], value);

/** A copy with another value; keys may hold dots, so a path is a list. */
function changed(value: unknown, [key, ...rest]: Path, to: unknown): unknown {
  if (key === undefined) return to;
  if (Array.isArray(value))
    return value.with(Number(key), changed(value[Number(key)], rest, to) as never);
  const known = value as Record<string, unknown>;
  return { ...known, [key]: changed(known[key], rest, to) };
}

/** What the judge reads of a run: values, and lists that it counts. */
function pathsRead(of: UnjudgedRun): Path[] {
  const read = new Map<string, Path>();
  const watched = (inner: object, path: Path): object =>
    new Proxy(inner, {
      get(target, key, receiver) {
        const found: unknown = Reflect.get(target, key, receiver);
        if (typeof key === 'symbol' || !Object.hasOwn(target, key)) return found;
        if (Array.isArray(target) && key === 'length') {
          read.set(path.join('\0'), path);
          return found;
        }
        const here = [...path, key];
        if (typeof found === 'object' && found !== null) return watched(found, here);
        read.set(here.join('\0'), here);
        return found;
      },
    });
  judge(watched(of, []) as UnjudgedRun);
  return [...read.values()];
}

/** The same field in every run, whatever the place in a list. */
const fieldOf = (path: Path): string =>
  path.map((key) => (/^\d+$/.test(key) ? '*' : key)).join(' ');

/** Words that stand in the runs above, or that a field of few values may have. */
const known = [
  ...['low', 'inconclusive', 'failed', 'temporary', 'ok', 'declared_unwatched', 'unwatched'],
  ...['n', 'x', 'y', 'z', 'preflight-green', 'must_not', 'user', 'history'],
];

/** Other values that the field may have: those of the other runs, and what a value can turn into. */
function others(path: Path, value: unknown): unknown[] {
  const elsewhere = stored.map(([, one]) => get(one, path)).filter((one) => one !== undefined);
  const turned =
    typeof value === 'string'
      ? [`${value} or another`, '', null, ...known]
      : value === null
        ? known
        : typeof value === 'boolean'
          ? [!value, null]
          : typeof value === 'number'
            ? [value + 100_000, 0]
            : Array.isArray(value)
              ? [
                  [],
                  ...known.map((word) => [...value, word]),
                  ...known.map((word) => [word, ...value]),
                ]
              : [];
  return [...turned, ...elsewhere];
}

/** The first stored run and value of a field for which verdict, reasons or leftovers change. */
function pairFor(field: string): string | null {
  for (const [name, one] of stored) {
    const before = JSON.stringify(judge(one));
    for (const path of pathsRead(one).filter((read) => fieldOf(read) === field)) {
      for (const value of others(path, get(one, path))) {
        const parsed = unjudgedRun.safeParse(changed(one, path, value));
        if (parsed.success && JSON.stringify(judge(parsed.data)) !== before)
          return `${field}: ${name}, ${JSON.stringify(value)?.slice(0, 40)}`;
      }
    }
  }
  return null;
}

test('every field that is read changes what is said of one stored run at least', () => {
  const fields = new Set(stored.flatMap(([, one]) => pathsRead(one).map(fieldOf)));
  expect(fields.size).toBeGreaterThan(60);
  const alone = [...fields].filter((field) => pairFor(field) === null);
  // It says which fields stand beside it, so it never changes without them.
  expect(alone).toEqual(['ended_by kind']);
});

test('the runs are of many kinds, or fields would never be read', () => {
  const verdicts = new Set(stored.map(([, one]) => judge(one).verdict));
  expect([...verdicts].sort()).toEqual(['aborted', 'dirty', 'fail', 'inconclusive', 'pass']);
});
