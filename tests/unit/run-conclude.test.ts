import { describe, expect, test } from 'vitest';
import { conclude, type Findings } from '../../harness/stages/report.ts';
import { scenario } from './run-scenario.ts';

describe('conclude', () => {
  const findings: Findings = {
    scenario: scenario(),
    judged: { verdict: 'pass', reasons: [] },
    repairs: [],
    readback: [],
    proofs: [],
    recovered: true,
    audit: { watched: true, until: null, edits: [], problem: null },
    auditMode: 'watched',
    differences: [],
    interrupted: null,
  };
  test('all well', () => {
    expect(conclude(findings)).toMatchObject({ verdict: 'pass', exitCode: 0 });
  });
  test('leftovers are dirty, whatever else', () => {
    const end = conclude({
      ...findings,
      judged: { verdict: 'fail', reasons: [] },
      interrupted: 'SIGINT',
      readback: [{ name: 'f', ok: false, detail: 'rule there' }],
    });
    expect(end).toMatchObject({ verdict: 'dirty', exitCode: 3 });
    expect(end.leftovers.join()).toContain('hopdrill undo');
  });
  test('an edited database fails', () => {
    expect(
      conclude({
        ...findings,
        audit: {
          watched: true,
          until: null,
          edits: ['postgres from local: UPDATE nodes'],
          problem: null,
        },
      }),
    ).toMatchObject({
      verdict: 'fail',
      exitCode: 1,
    });
  });
  test('an unwatched database is inconclusive unless declared', () => {
    expect(conclude({ ...findings, audit: null, auditMode: 'unwatched' })).toMatchObject({
      verdict: 'inconclusive',
      exitCode: 2,
    });
    expect(conclude({ ...findings, audit: null, auditMode: 'declared_unwatched' }).verdict).toBe(
      'pass',
    );
  });
  test('not recovered fails with the proof that is missing', () => {
    const end = conclude({
      ...findings,
      recovered: false,
      proofs: [{ name: 'preflight-green', ok: false, detail: 'h / s' }],
    });
    expect(end).toMatchObject({
      verdict: 'fail',
      reasons: [{ field: 'recover', expected: 'preflight-green', observed: 'h / s' }],
    });
  });
  test.each([
    ['SIGINT', 130],
    ['SIGTERM', 143],
  ] as const)('%s ends with its code', (interrupted, exitCode) => {
    expect(conclude({ ...findings, interrupted })).toMatchObject({ verdict: 'aborted', exitCode });
  });
});
