// A preflight that is asked for less than everything, or cannot ask everything, says so.
import { describe, expect, it } from 'vitest';
import { exitCodeOf } from '../../harness/preflight/document.ts';
import { renderTable } from '../../harness/preflight/table.ts';
import { broken, hop, pass, report, statuses, systemOf } from './preflight-made-up.ts';

describe('asking less', () => {
  const three = () =>
    systemOf([
      hop('a', 1, async () => pass),
      hop('b', 2, async () => broken, { after: ['a'] }),
      hop('c', 3, async () => pass),
    ]);

  it('--until leaves the rest not run', async () => {
    expect(statuses(await report(three(), ['--until', 'a']))).toEqual({
      a: 'pass',
      b: 'not_run',
      c: 'not_run',
    });
  });
  it('--only takes along what it reads', async () => {
    expect(statuses(await report(three(), ['--only', 'b']))).toEqual({
      a: 'pass',
      b: 'fail',
      c: 'not_run',
    });
  });
  it('--in-order stops at the first that fails', async () => {
    expect(statuses(await report(three(), ['--in-order']))).toEqual({
      a: 'pass',
      b: 'fail',
      c: 'not_run',
    });
  });
  it.each([
    ['--only', 'a'],
    ['--until', 'a'],
  ])(
    '%s says that the report is partial, leaves no note, and ends with 2 when it must be complete',
    async (...argv) => {
      let notes = 0;
      const healthy = async () => {
        notes += 1;
      };
      const hops = [
        hop('a', 1, async () => pass),
        hop('b', 2, async () => pass),
        hop('c', 3, async () => pass, { optional: true }),
      ];
      const system = systemOf(hops, { healthy });
      const document = await report(system, argv);
      expect(document).toMatchObject({ result: 'healthy', partial: true });
      expect(renderTable(system, document, { colour: false, width: 120 })).toContain(
        'RESULT healthy (partial: not asked b)',
      );
      expect(notes).toBe(0);
      const complete = await report(system, [...argv, '--require-complete']);
      expect(complete).toMatchObject({
        result: 'inconclusive',
        inconclusive_because: ['not asked b (--require-complete)'],
      });
      expect(exitCodeOf(complete)).toBe(2);
      expect(
        (await report(system, ['--until', 'b'])).partial,
        'only what is asked on purpose is missing',
      ).toBe(false);
    },
  );
  it('a partial report that failed says so too', async () => {
    const document = await report(three(), ['--in-order']);
    expect(document).toMatchObject({ result: 'failed', partial: true });
    expect(renderTable(three(), document, { colour: false, width: 120 })).toContain(
      'partial       not asked c',
    );
  });
  it('is partial for want of input, and --require-complete makes that exit 2', async () => {
    const system = systemOf([
      hop('a', 1, async () => pass),
      hop('b', 2, async () => pass, { skip: () => 'no --b' }),
      hop('c', 3, async () => pass, { skip: () => 'no --c', optional: true }),
    ]);
    const document = await report(system);
    expect(document).toMatchObject({ result: 'healthy', partial: true });
    expect(exitCodeOf(document)).toBe(0);
    expect(exitCodeOf(await report(system, ['--require-complete']))).toBe(2);
    const optionalOnly = systemOf([
      hop('c', 3, async () => pass, { skip: () => 'no --c', optional: true }),
    ]);
    expect((await report(optionalOnly, ['--require-complete'])).partial).toBe(false);
  });
});
