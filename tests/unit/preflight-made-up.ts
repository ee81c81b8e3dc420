// A system made up for the purpose: hops that say what a test wants, and the document of a run.
import { parseArgv } from '../../harness/preflight/argv.ts';
import { runPreflight } from '../../harness/preflight/run.ts';
import type { AnySystem, Finding, HopDefinition } from '../../harness/preflight/types.ts';
import { preflightReport } from '../../harness/records/preflight.ts';

export type Run = (earlier: (id: string) => Finding) => Promise<Finding>;
export const pass: Finding = { status: 'pass', summary: 'ok' };

export function hop(
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

export function systemOf(hops: HopDefinition<unknown>[], more: Partial<AnySystem> = {}): AnySystem {
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

export const broken: Finding = {
  status: 'fail',
  signal: 'broken',
  cause: 'why',
  blames: 'x',
  summary: 'no',
};

export async function report(system: AnySystem, argv: string[] = [], signal?: AbortSignal) {
  const parsed = parseArgv(system, argv);
  if (!parsed.ok) throw new Error(parsed.errors.join('; '));
  const document = await runPreflight(system, parsed.request, signal ? { signal } : {});
  // Every way out gives a document of the one schema.
  return preflightReport.parse(JSON.parse(JSON.stringify(document)));
}
export const statuses = (document: { hops: { id: string; status: string }[] }) =>
  Object.fromEntries(document.hops.map(({ id, status }) => [id, status]));
