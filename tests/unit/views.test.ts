import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { openViews } from '../../harness/run-tools/views.ts';
import { contradictionsOfViews } from '../../harness/systems/contradictions-of-views.ts';
import type { HookContext, See } from '../../harness/systems/hooks.ts';
import { defineView } from '../../harness/systems/view.ts';

const context = { runId: 'r' } as HookContext;

/** Tells how often it was read. */
function counting() {
  let times = 0;
  const view = defineView({
    title: 't',
    params: z.strictObject({ of: z.string().default('all') }),
    fields: z.object({ times: z.number() }),
    read() {
      times += 1;
      return Promise.resolve({ times });
    },
  });
  return openViews({ counting: view }, () => context);
}

describe('a view', () => {
  test('is read once for two who ask at the same time', async () => {
    const views = counting();
    const both = await Promise.all([views.read({ counting: {} }), views.read({ counting: {} })]);
    expect(both.map(({ rows }) => rows[0]?.times)).toEqual([1, 1]);
  });
  test('is read again with other parameters, with another context, or when it must be fresh', async () => {
    const views = counting();
    await views.read({ counting: {} });
    expect(await views.read({ counting: { of: 'one' } })).toEqual({ rows: [{ times: 2 }] });
    expect(await views.read({ counting: {} }, { context })).toEqual({ rows: [{ times: 3 }] });
    expect(await views.read({ counting: {} }, { maxAgeMs: 0 })).toEqual({ rows: [{ times: 4 }] });
    views.forget();
    expect(await views.read({ counting: {} })).toEqual({ rows: [{ times: 5 }] });
  });
  test('is judged by what the item expects', async () => {
    const views = counting();
    const item = { counting: { is: { times: 1 } } };
    expect((await views.judge(item, null)).holds).toBe(true);
    expect(await views.judge(item, null, { maxAgeMs: 0 })).toEqual({
      holds: false,
      detail: 'times 2, expected 1',
    });
  });
  test('that answers in another shape, or that is not there, is an error', async () => {
    const broken = defineView({
      title: 't',
      fields: z.object({ times: z.number() }),
      read: () => Promise.resolve({ times: 'often' as unknown as number }),
    });
    const views = openViews({ broken }, () => context);
    await expect(views.read({ broken: {} })).rejects.toThrow(/times/);
    await expect(views.read({ other: {} })).rejects.toThrow('the system has no view other');
  });
});

test('a system that observes what no view tells is refused, all of it at once', () => {
  const node = defineView({
    title: 't',
    params: z.strictObject({ as: z.enum(['operator', 'user']).default('operator') }),
    fields: z.object({ status: z.string() }),
    read: () => Promise.resolve({ status: 'well' }),
  });
  const see: See = {
    views: { node, history: node },
    proofs: { up: { title: 't', observe: [{ node: { is: { statos: 'well' } } }] } },
    invariants: {
      never: { title: 't', texts: [], when: 'end', observe: [{ nodes: { rows: 0 } }] },
    },
    evidence: { shown: { file: 'f', title: 't', view: { node: { as: 'nobody' } } } },
  };
  expect(contradictionsOfViews(see)).toEqual([
    'up asks node for statos, which it does not tell; did you mean status?',
    'never asks the view nodes, which is none; did you mean node?',
    expect.stringContaining('shown asks node wrongly: as '),
    "the view history lacks the field at, which every system's has",
    "the view history lacks the field words, which every system's has",
  ]);
  expect(
    contradictionsOfViews({ ...see, views: { node }, proofs: {}, invariants: {}, evidence: {} }),
  ).toEqual([]);
});
