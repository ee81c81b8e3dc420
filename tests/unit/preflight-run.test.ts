// The walker and the document with a system made up for the purpose: deadlines, signals, our own
// mistakes.
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { parseArgv } from '../../harness/preflight/argv.ts';
import { errorReport, exitCodeOf } from '../../harness/preflight/document.ts';
import { runPreflight } from '../../harness/preflight/run.ts';
import { renderTable } from '../../harness/preflight/table.ts';
import type { AnySystem, Finding, HopDefinition } from '../../harness/preflight/types.ts';
import { preflightReport } from '../../harness/records/preflight.ts';

type Run = (earlier: (id: string) => Finding) => Promise<Finding>;
const pass: Finding = { status: 'pass', summary: 'ok' };

function hop(
  id: string,
  order: number,
  run: Run,
  more: Partial<HopDefinition<unknown>> = {},
): HopDefinition<unknown> {
  return {
    id,
    order,
    title: id,
    section: id,
    vantage: 'operator',
    after: [],
    explainedBy: [],
    signals: ['broken'],
    deadlineMs: () => 500,
    skip: () => null,
    run: (_context, earlier) => run(earlier),
    ...more,
  };
}

function systemOf(hops: HopDefinition<unknown>[], more: Partial<AnySystem> = {}): AnySystem {
  return {
    name: 'made-up',
    hops,
    signals: {
      broken: {
        owner: 'nobody',
        next: 'mend it',
        within: () => 1,
        severity: 'P2',
        causes: ['why'],
      },
    },
    causes: { why: 'because' },
    resources: {},
    flags: [],
    environment: () => ({ profile: null, api_url: null, terminal_url: null }),
    open: () => ({}),
    policies: () => Promise.resolve({}),
    conclude: () =>
      Promise.resolve({
        userState: 'normal',
        userAccess: null,
        scope: null,
        subject: { node_id: null, allocation_id: null, session_id: null },
        proof: null,
      }),
    ...more,
  };
}

const broken: Finding = {
  status: 'fail',
  signal: 'broken',
  cause: 'why',
  blames: 'x',
  summary: 'no',
};

async function report(system: AnySystem, argv: string[] = [], signal?: AbortSignal) {
  const parsed = parseArgv(system, argv);
  if (!parsed.ok) throw new Error(parsed.errors.join('; '));
  const document = await runPreflight(system, parsed.request, signal ? { signal } : {});
  // Every way out gives a document of the one schema.
  return preflightReport.parse(JSON.parse(JSON.stringify(document)));
}
const statuses = (document: { hops: { id: string; status: string }[] }) =>
  Object.fromEntries(document.hops.map(({ id, status }) => [id, status]));

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
