// The walker and the document with a system made up for the purpose: deadlines, signals, our own
// mistakes.
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { errorReport, exitCodeOf } from '../../harness/preflight/document.ts';
import { renderTable } from '../../harness/preflight/table.ts';
import type { Finding } from '../../harness/preflight/types.ts';
import { preflightReport } from '../../harness/records/preflight.ts';
import { broken, hop, pass, type Run, report, statuses, systemOf } from './preflight-made-up.ts';

describe('a run', () => {
  it('asks side by side, and after data only', async () => {
    const seen: string[] = [];
    const slow =
      (id: string): Run =>
      async () => {
        seen.push(`${id} begins`);
        await sleep(20);
        seen.push(`${id} ends`);
        return pass;
      };
    const system = systemOf([
      hop('a', 1, slow('a')),
      hop('b', 2, slow('b'), { after: ['c'] }),
      hop('c', 3, slow('c')),
    ]);
    const document = await report(system);
    expect(document.result).toBe('healthy');
    expect(seen.slice(0, 2).sort()).toEqual(['a begins', 'c begins']);
    expect(seen.indexOf('b begins')).toBeGreaterThan(seen.indexOf('c ends'));
    expect(exitCodeOf(document)).toBe(0);
  });

  it('names one hop, with owner and next action, and exits 1', async () => {
    const document = await report(
      systemOf([
        hop('a', 1, async () => broken),
        hop('b', 2, async () => broken, { explainedBy: ['a'] }),
      ]),
    );
    expect(document).toMatchObject({
      result: 'failed',
      hop: 'a',
      signal: 'broken',
      cause: 'why',
      owner: 'nobody',
      also_failing: [],
      confidence: 'high',
    });
    expect(document.hops[1]?.explained_by).toBe('a');
    expect(document.recovery?.text).toBe('mend it');
    expect(exitCodeOf(document)).toBe(1);
  });

  it('says why it is unsure, in document and table, and gives the advice of the cause', async () => {
    const system = systemOf([
      hop('a', 1, async () => pass, { skip: () => 'no input' }),
      hop('b', 2, async () => ({ ...broken, doubts: ['two records'] }), { explainedBy: ['a'] }),
    ]);
    const own = { next: 'mend the cause', command: 'mend why' };
    const signals = { broken: { ...system.signals.broken!, advice: { why: own } } };
    const document = await report({ ...system, signals });
    const because = ['a could explain it and was not asked', 'two records'];
    expect(document).toMatchObject({ hop: 'b', confidence: 'low', confidence_because: because });
    expect(document.recovery).toEqual({ text: own.next, command: own.command, auto: false });
    expect(document.owner).toBe('nobody');
    const table = renderTable({ ...system, signals }, document, { colour: false, width: 100 });
    for (const line of [...because.map((one) => `unsure ${one}`), 'mend the cause   (mend why)'])
      expect(table).toContain(line);
  });

  it('says what a hop waits for, why one was skipped, and which command tells more', async () => {
    const skipped = hop('b', 2, async () => pass, { after: ['a'], skip: () => 'needs --api-base' });
    const document = await report(systemOf([hop('a', 1, async () => broken), skipped]));
    expect(document.doc).toBe('hopdrill explain broken');
    expect(document.hops).toMatchObject([
      { id: 'a', skipped_because: null, depends_on: [] },
      { id: 'b', skipped_because: 'needs --api-base', depends_on: ['a'] },
    ]);
    expect((await report(systemOf([hop('a', 1, async () => pass)]))).doc).toBeNull();
  });

  it('ends a hop that never answers at its deadline: unknown, exit 2', async () => {
    const document = await report(systemOf([hop('a', 1, () => new Promise(() => {}))]));
    expect(document).toMatchObject({ result: 'inconclusive', error: null });
    expect(document.hops[0]?.summary).toContain('500 ms');
    expect(exitCodeOf(document)).toBe(2);
  });

  it('ends as a whole at --deadline', async () => {
    const system = systemOf([
      hop('a', 1, () => new Promise(() => {}), { deadlineMs: () => 60_000 }),
    ]);
    const document = await report(system, ['--deadline', '0.1']);
    expect(document.error?.code).toBe('deadline');
    expect(exitCodeOf(document)).toBe(2);
  });

  it('writes what is known when it is interrupted', async () => {
    for (const [reason, code] of [
      ['interrupted', 130],
      ['terminated', 143],
    ] as const) {
      const stop = new AbortController();
      const system = systemOf([
        hop('a', 1, async () => pass),
        hop('b', 2, () => new Promise(() => {}), { deadlineMs: () => 60_000 }),
      ]);
      setTimeout(() => stop.abort(reason), 30);
      const document = await report(system, [], stop.signal);
      expect(statuses(document)).toEqual({ a: 'pass', b: 'unknown' });
      expect(exitCodeOf(document)).toBe(code);
    }
  });

  it('calls a probe that broke unknown, and itself internal', async () => {
    const document = await report(
      systemOf([
        hop('a', 1, () => Promise.reject(new TypeError('oops'))),
        hop('b', 2, async () => pass),
      ]),
    );
    expect(document).toMatchObject({ result: 'inconclusive', error: { code: 'internal' } });
    expect(exitCodeOf(document)).toBe(70);
  });

  it('closes what was opened, whatever happens', async () => {
    let closed = 0;
    const system = systemOf([hop('a', 1, () => Promise.reject(new Error('oops')))], {
      open: (_request, run) =>
        run.defer(() => {
          closed += 1;
        }),
    });
    await report(system);
    expect(closed).toBe(1);
  });

  it('closes what is opened after the end', async () => {
    let closed = 0;
    const late = async (context: unknown): Promise<Finding> => {
      await sleep(120);
      (context as { defer(close: () => void): void }).defer(() => {
        closed += 1;
      });
      return pass;
    };
    const slow = { ...hop('a', 1, async () => pass), run: late, deadlineMs: () => 50 };
    await report(systemOf([slow], { open: (_request, run) => run }));
    await sleep(120);
    expect(closed).toBe(1);
  });

  it('survives a system that cannot conclude', async () => {
    const document = await report(
      systemOf([hop('a', 1, async () => pass)], {
        conclude: () => Promise.reject(new Error('oops')),
      }),
    );
    expect(document).toMatchObject({ result: 'healthy', user_state: null });
  });

  it('leaves a note only after a healthy and complete run', async () => {
    let notes = 0;
    const healthy = async () => {
      notes += 1;
    };
    await report(systemOf([hop('a', 1, async () => pass)], { healthy }));
    await report(systemOf([hop('a', 1, async () => broken)], { healthy }));
    await report(
      systemOf([hop('a', 1, async () => pass, { skip: () => 'no input' })], { healthy }),
    );
    expect(notes).toBe(1);
  });
});

describe('the document without a run', () => {
  it('has the same schema', () => {
    for (const [code, exit] of [
      ['usage', 64],
      ['internal', 70],
    ] as const) {
      const document = preflightReport.parse(
        JSON.parse(JSON.stringify(errorReport(systemOf([]), code, 'so it is'))),
      );
      expect(document.result).toBe('inconclusive');
      expect(exitCodeOf(document)).toBe(exit);
    }
  });
});

describe('the table', () => {
  it('has the section of each hop, and the reason under the row that failed', async () => {
    const system = systemOf([
      hop('a', 1, async () => broken, { section: 'section of a' }),
      hop('b', 2, async () => pass, { section: 'section of b' }),
    ]);
    const table = renderTable(system, await report(system), { colour: false, width: 120 });
    for (const text of [
      'section of a',
      'section of b',
      'FAIL',
      'signal broken   cause why',
      'owner  nobody',
      'next   mend it',
      'RESULT failed',
    ])
      expect(table).toContain(text);
  });
});
