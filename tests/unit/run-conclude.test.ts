import { describe, expect, test } from 'vitest';
import { judge } from '../../harness/judge/judge.ts';
import { exitCodeOf } from '../../harness/records/exit-codes.ts';
import type { UnjudgedRun } from '../../harness/records/run-record.ts';
import { expectation, run, seen } from './unjudged-run.ts';

/** Verdict, exit code, and the fields of the reasons. */
function ended(over: Partial<UnjudgedRun>): [string, number, string[]] {
  const record = run(over);
  const { verdict, reasons } = judge(record);
  const code = exitCodeOf({ verdict, ended_by: record.ended_by });
  return [verdict, code, reasons.map(({ field }) => field)];
}

describe('a run that saw what it should', () => {
  test('and put everything back passes', () => {
    expect(judge(run())).toEqual({ verdict: 'pass', reasons: [], leftovers: [] });
  });

  test('is dirty when something is left, whatever else', () => {
    const over = {
      ended_by: { kind: 'signal', name: 'SIGINT' },
      readback: [{ name: 'f', ok: false, detail: 'rule there' }],
    } as const;
    expect(ended({ ...over, readback: [...over.readback] })).toEqual([
      'dirty',
      3,
      ['readback', 'run'],
    ]);
    const { leftovers } = judge(run({ ...over, readback: [...over.readback] }));
    expect(leftovers).toEqual(['f: rule there', 'to remove it: ./hopdrill undo']);
  });

  test.each<[string, Partial<UnjudgedRun>]>([
    ['a step that puts back breaks', { errors: [{ stage: 'readback', message: 'ssh' }] }],
    ['a handle cannot be closed', { teardown: ['faults: not closed within 120 s'] }],
    [
      'an earlier run left what cannot be taken back',
      { refused: { because: ['leftovers'], left: ['rule'] } },
    ],
  ])('is dirty when %s', (_, over) => {
    expect(ended(over).slice(0, 2)).toEqual(['dirty', 3]);
  });

  test('fails when somebody else wrote to the database', () => {
    const edits = ['postgres from local: UPDATE nodes'];
    const audit = { watched: true, until: null, edits, problem: null };
    expect(ended({ audit })).toEqual(['fail', 1, ['database']]);
  });

  test('is inconclusive when nobody saw every write, unless the profile declares that', () => {
    expect(ended({ audit: null })).toEqual(['inconclusive', 2, ['database']]);
    const declared = expectation({}, { audit: 'declared_unwatched' });
    expect(ended({ audit: null, expectation: declared })).toEqual(['pass', 0, []]);
    const problem = 'audited until 12:00; then the session with the database ended';
    const audit = { watched: false, until: '12:00', edits: [], problem };
    expect(judge(run({ audit })).reasons).toMatchObject([{ observed: problem }]);
  });

  test('fails with the proof that is missing when it did not recover', () => {
    const proofs = [{ name: 'preflight-green', ok: false, detail: 'h / s' }];
    const recovery = { recovered: false, after_ms: null, proofs };
    expect(judge(run({ recovery }))).toMatchObject({
      verdict: 'fail',
      reasons: [{ field: 'recover', expected: 'preflight-green', observed: 'h / s' }],
    });
  });

  test('fails when it did something that was not planned', () => {
    expect(ended({ differences: ['executed, not planned: x'] })).toEqual([
      'fail',
      1,
      ['executed actions'],
    ]);
  });

  test('fails when the platform could not be repaired by its own procedure', () => {
    const repairs = [{ name: 'agent.start', ok: false, detail: 'exit 1' }];
    expect(ended({ repairs })).toEqual(['fail', 1, ['repair']]);
  });

  const demand = {
    kind: 'evidence' as const,
    text: 'route config',
    path: 'source.0',
    sources: [],
    not_covered: null,
  };

  test.each(['evidence', 'must_not'] as const)(
    'fails when nothing shows a demanded %s, unless the file says why not',
    (kind) => {
      const demanding = (why: string | null) => ({
        expectation: expectation({}, { demanded: [{ ...demand, kind, not_covered: why }] }),
      });
      expect(ended(demanding(null))).toEqual(['fail', 1, [kind]]);
      expect(ended(demanding('no such route here'))).toEqual(['pass', 0, []]);
    },
  );

  test('fails when demanded evidence is missing; what nobody demands may be', () => {
    const demanded = [{ ...demand, sources: ['routes'] }];
    const missing = (name: string) => [{ name, ok: false, detail: 'no such container' }];
    const over = { expectation: expectation({}, { demanded }) };
    expect(judge(run({ ...over, evidence: missing('routes') })).reasons).toMatchObject([
      { expected: 'route config', observed: 'missing: routes: no such container' },
    ]);
    expect(ended({ ...over, evidence: missing('disk') })[0]).toBe('pass');
  });

  test.each(['recover', 'audit'] as const)('is inconclusive when %s breaks', (stage) => {
    expect(ended({ errors: [{ stage, message: 'timeout' }] })).toEqual([
      'inconclusive',
      2,
      [stage],
    ]);
  });
});

describe('a run that did not come to its end', () => {
  test.each([
    ['SIGINT', 130],
    ['SIGTERM', 143],
    ['SIGHUP', 129],
  ] as const)('by %s has its code, and what it saw is no judgement', (name, code) => {
    const over = { ended_by: { kind: 'signal', name }, observation: null } as const;
    expect(ended(over)).toEqual(['aborted', code, ['run']]);
  });

  test('by a guard is aborted with the guard as its reason', () => {
    const guard = { kind: 'guard', name: 'shop', expected: 'e', observed: 'o' } as const;
    expect(ended({ ended_by: guard, recovery: null })).toEqual(['aborted', 4, ['guard shop']]);
  });

  test.each<[string, Partial<UnjudgedRun>, string]>([
    ['a step that asks breaks', { errors: [{ stage: 'observe', message: 'm' }] }, 'observe'],
    [
      'the platform was not healthy before',
      { baseline: { green: false, detail: 'd', seen: seen() } },
      'baseline',
    ],
    ['nothing was reached', { baseline: null, recovery: null, audit: null }, 'run'],
  ])('is inconclusive when %s', (_, over, field) => {
    expect(ended(over)).toEqual(['inconclusive', 2, [field]]);
  });

  test('is aborted when its plan is refused', () => {
    const refused = { because: ['not disposable', 'no watchdog'], left: [] };
    expect(ended({ refused, baseline: null, recovery: null, audit: null })).toEqual([
      'aborted',
      4,
      ['plan', 'plan'],
    ]);
  });
});
