import { describe, expect, test } from 'vitest';
import { judge } from '../../harness/judge/judge.ts';
import type { Expectation } from '../../harness/records/expectation.ts';
import type {
  Check,
  Observation,
  UnjudgedRun,
  UserSeen,
} from '../../harness/records/run-record.ts';
import { expectation, expectUser, observation, run, seen } from './unjudged-run.ts';

const active: Check[] = [{ name: 'f', ok: true, detail: '' }];
const judged = (
  expected: Expectation,
  over: Partial<Observation> = {},
  effect: Check[] = active,
  invariants: Check[] = [],
) => {
  const { verdict, reasons } = judge(
    run({ expectation: expected, effect, observation: observation(over), invariants }),
  );
  return { verdict, reasons };
};

describe('judge', () => {
  test('all as expected passes', () => {
    expect(judged(expectation())).toEqual({ verdict: 'pass', reasons: [] });
  });
  test('a wrong hop is that one reason, with its line', () => {
    expect(judged(expectation({ hop: 'neighbour' }))).toEqual({
      verdict: 'fail',
      reasons: [{ field: 'hop', expected: 'neighbour', observed: 'h', at: 'a.yaml:3:8' }],
    });
  });
  test('a wrong signal is that one reason, with its line', () => {
    expect(judged(expectation({ signal: 'other' })).reasons).toEqual([
      { field: 'signal', expected: 'other', observed: 's', at: 'a.yaml:4:11' },
    ]);
  });
  test('a right hop that is named without certainty fails, unless the file says so', () => {
    const unsure = seen({ confidence: 'low', confidence_because: ['SSH is down'] });
    expect(judged(expectation(), { judged: unsure }).reasons).toMatchObject([
      { field: 'confidence', expected: 'high', observed: 'low: SSH is down' },
    ]);
    const low = expectation({ confidence: 'low' });
    expect(judged(low, { judged: unsure }).verdict).toBe('pass');
    expect(judged(low).reasons).toMatchObject([{ field: 'confidence', observed: 'high' }]);
  });
  test('a further root is over-attribution unless it is expected', () => {
    const two = seen({ also_failing: ['x'] });
    expect(judged(expectation(), { judged: two }).reasons).toMatchObject([
      { field: 'also_failing', observed: 'x' },
    ]);
    expect(judged(expectation({ also: ['x'] }), { judged: two }).verdict).toBe('pass');
  });
  test('no effect is inconclusive, whatever was seen', () => {
    expect(
      judged(expectation({ hop: 'other' }), {}, [{ name: 'f', ok: false, detail: 'not there' }]),
    ).toMatchObject({
      verdict: 'inconclusive',
      reasons: [{ field: 'effect of f' }],
    });
  });
  test('a probe of the effect that broke is inconclusive too', () => {
    expect(judged(expectation(), {}, [{ name: 'f', ok: null, detail: 'timeout' }]).verdict).toBe(
      'inconclusive',
    );
  });
  test('a fault that was gone early is inconclusive', () => {
    expect(judged(expectation(), { still_active: false }).verdict).toBe('inconclusive');
  });
  test('a fault whose second reading failed is inconclusive too', () => {
    expect(judged(expectation(), { still_active: null })).toMatchObject({
      verdict: 'inconclusive',
      reasons: [{ field: 'effect after observing', observed: 'could not be read' }],
    });
  });
  test('the right hop after the budget is a failure', () => {
    expect(judged(expectation(), { detected_after_ms: 30_000 }).verdict).toBe('pass');
    expect(judged(expectation(), { detected_after_ms: 30_001 })).toMatchObject({
      verdict: 'fail',
      reasons: [{ field: 'within' }],
    });
  });
  test('with a forged effect a healthy preflight fails', () => {
    const healthy = seen({ result: 'healthy', hop: null, signal: null, cause: null });
    expect(judged(expectation(), { judged: null, preflights: [healthy] })).toMatchObject({
      verdict: 'fail',
      reasons: [{ field: 'hop', observed: 'none: the preflight is healthy' }],
    });
  });
  test('only inconclusive preflights are no verdict about the platform', () => {
    const unknown = seen({ result: 'inconclusive', hop: null, because: ['ssh down'] });
    expect(judged(expectation(), { judged: null, preflights: [unknown] })).toMatchObject({
      verdict: 'inconclusive',
      reasons: [{ observed: 'inconclusive: ssh down' }],
    });
  });
  test('green situations need their history and no alarm', () => {
    const sc = expectation({
      ...{ hop: 'none', signal: undefined, cause: undefined },
      ...{ result: 'healthy', history: ['recovering'] },
    });
    const healthy = seen({ result: 'healthy', hop: null, signal: null, cause: null });
    expect(
      judged(sc, {
        judged: null,
        preflights: [healthy],
        history: ['recovering'],
        still_active: false,
      }).verdict,
    ).toBe('pass');
    expect(judged(sc, { judged: null, preflights: [healthy] }).reasons).toMatchObject([
      { field: 'history' },
    ]);
    expect(
      judged(sc, { preflights: [seen(), healthy], history: ['recovering'] }).reasons,
    ).toMatchObject([{ field: 'hop', expected: 'none' }]);
  });
  test('a broken must-not fails', () => {
    expect(
      judged(expectation({ never: ['n'] }), {}, active, [
        { name: 'n', ok: false, detail: 'marked failed' },
      ]).reasons,
    ).toMatchObject([{ field: 'never', observed: 'marked failed' }]);
  });
  test('a must-not that nobody could read is not one that held', () => {
    const unread = [{ name: 'n', ok: null, detail: 'timeout' }];
    expect(judged(expectation({ never: ['n'] }), {}, active, unread)).toMatchObject({
      verdict: 'inconclusive',
      reasons: [{ field: 'never', expected: 'n to be read', observed: 'timeout' }],
    });
    const wrong = judged(expectation({ never: ['n'], hop: 'other' }), {}, active, unread);
    expect(wrong).toMatchObject({
      verdict: 'fail',
      reasons: [{ field: 'hop' }, { field: 'never' }],
    });
  });
});

describe('what nobody could read', () => {
  const green = { hop: 'none', signal: undefined, cause: undefined, result: 'healthy' } as const;
  const healthy = seen({ result: 'healthy', hop: null, signal: null, cause: null });
  const why = 'the view could not be read';
  test.each<[string, UnjudgedRun, string]>([
    [
      'the user',
      run({
        expectation: expectation({ user: { ...expectUser } }),
        observation: observation({ unread: [{ view: 'user', why }] }),
      }),
      'user',
    ],
    [
      'the history',
      run({
        expectation: expectation({ ...green, history: ['recovering'] }),
        observation: observation({
          ...{ judged: null, preflights: [healthy], unread: [{ view: 'history', why }] },
        }),
      }),
      'history',
    ],
    [
      'a proof',
      run({
        recovery: {
          recovered: false,
          after_ms: null,
          proofs: [{ name: 'p', ok: null, detail: why }],
        },
      }),
      'recover',
    ],
    ['a repair', run({ repairs: [{ name: 'r', ok: null, detail: why }] }), 'repair'],
  ])('%s: inconclusive, with that one reason', (_, of, field) => {
    expect(judge(of)).toMatchObject({
      verdict: 'inconclusive',
      reasons: [{ field, observed: why }],
    });
    expect(judge(of).reasons).toHaveLength(1);
  });
  test('a repair that the platform refused fails, and so does a proof that does not hold', () => {
    const repairs = [{ name: 'r', ok: false, detail: 'd' }];
    const recovery = {
      recovered: false,
      after_ms: null,
      proofs: [{ name: 'p', ok: false, detail: 'd' }],
    };
    expect(judge(run({ repairs })).verdict).toBe('fail');
    expect(judge(run({ recovery })).verdict).toBe('fail');
  });
});

describe('what the user sees', () => {
  const words = {
    code: 'gone',
    message: 'The gateway is gone.',
    next: 'Try again.',
    correlation_id: 'page-1',
  };
  const page = { state: 'error', ...words, found_in: ['log of api'] };
  const user: UserSeen = {
    ...{
      state: 'normal',
      access: 'error',
      message: 'gone: The gateway is gone.',
      correlation_id: 'c',
    },
    ...{ found_in: ['audit'], after_ms: 900, page, page_unseen: null },
  };
  const sc = expectation({ user: { state: 'normal', access: 'error', page: { shows: 'gone' } } });
  const fields = (over: Partial<UserSeen>) =>
    judged(sc, { user: { ...user, ...over } }).reasons.map((one) => one.field);

  test('an error in words, with an id that is known, on a page that shows the same', () => {
    expect(judged(sc, { user })).toEqual({ verdict: 'pass', reasons: [] });
    expect(judged(sc, { user: null }).verdict).toBe('fail');
  });
  test.each<[string, Partial<UserSeen>, string]>([
    ['silence', { access: 'silent' }, 'user.access'],
    ['a bare refusal beside a page', { access: 'refused' }, 'user.access'],
    ['no id', { correlation_id: null }, 'user.message'],
    ['blank words', { message: ' ' }, 'user.message'],
    ['an id that nobody knows', { found_in: [] }, 'user.correlation_id'],
    ['an answer after the budget', { after_ms: 30_001 }, 'user.within'],
    [
      'a code that only contains the wanted one',
      { page: { ...page, code: 'gone_elsewhere' } },
      'user.page',
    ],
    ['a page that is no error', { page: { ...page, state: 'connecting' } }, 'user.page'],
    ['a page without words', { page: { ...page, message: '' } }, 'user.page'],
    ['a page without a next step', { page: { ...page, next: '' } }, 'user.page'],
    ['a page without an id', { page: { ...page, correlation_id: '' } }, 'user.page'],
    ['an id on the page that nobody knows', { page: { ...page, found_in: [] } }, 'user.page'],
    ['another state', { state: 'temporary' }, 'user.state'],
  ])('%s fails', (_, over, field) => {
    expect(fields(over)).toEqual([field]);
  });
  test('without a page nobody puts a bare refusal into words, and that is no reason of its own', () => {
    expect(
      fields({ access: 'refused', message: null, correlation_id: null, found_in: [], page: null }),
    ).toEqual([]);
    expect(fields({ access: 'silent', message: null, page: null })).toEqual(['user.access']);
  });
  test('a page that was not looked at is inconclusive, unless the profile declares it', () => {
    const unseen = (declared: boolean) => ({
      ...user,
      page: null,
      page_unseen: { why: 'the profile names no browser', declared },
    });
    const reasons = [
      {
        field: 'user.page',
        observed: 'the console page was not looked at: the profile names no browser',
      },
    ];
    expect(judged(sc, { user: unseen(false) })).toMatchObject({ verdict: 'inconclusive', reasons });
    expect(judged(sc, { user: unseen(true) })).toEqual({ verdict: 'pass', reasons: [] });
    // It does not hide what is wrong.
    const wrong = judged(sc, { user: { ...unseen(false), state: 'temporary' } });
    expect(wrong).toMatchObject({
      verdict: 'fail',
      reasons: [{ field: 'user.state' }, { field: 'user.page' }],
    });
  });
});
