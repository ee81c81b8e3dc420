import type { HookContext, Invariant } from '../hooks.ts';
import {
  type AllocationModel,
  allocationModel,
  api,
  mustOnNode,
  type NodeModel,
  nodeModel,
  nodeOf,
} from './platform.ts';
import { terminalSeconds } from './policies.ts';
import { retryFlood } from './retries.ts';
import { type TerminalTry, tryTerminal } from './terminal.ts';

interface Held {
  readonly held: boolean;
  readonly detail: string;
}

/** What each reading means. Pure, so that each can be shown to fail. */
export const meaning = {
  workload_failed: ({ state, app }: AllocationModel): Held => ({
    held: state === 'active' && app?.status !== 'failed',
    detail: `allocation ${state}, app ${app?.status ?? 'none'}`,
  }),
  node_reenrolled: (before: number, now: number): Held => ({
    held: now === before,
    detail: `enrolments: ${before} before, ${now} now`,
  }),
  host_config_partial(before: readonly string[], now: readonly string[]): Held {
    const lost = before.filter((key) => !now.includes(key));
    return {
      held: lost.length === 0,
      detail: lost.length === 0 ? `${now.length} keys` : `lost: ${lost.join(', ')}`,
    };
  },
  agent_down_reported: ({ agent_status, heartbeat, recovery }: NodeModel): Held => ({
    held: agent_status === 'healthy' && !heartbeat.stale && recovery.reason !== 'agent_down',
    detail: `agent ${agent_status}, reason ${recovery.reason ?? 'none'}, heartbeat ${heartbeat.age_ms} ms old`,
  }),
  /** The platform's generic answers: nothing heard (any more), and no better word for it. */
  generic_unreachable({ agent_status, recovery }: NodeModel): Held {
    const generic =
      ['agent_down', 'node_agent_unreachable'].includes(recovery.reason ?? '') ||
      ['stale', 'unknown'].includes(agent_status);
    return {
      held: !generic,
      detail: `agent ${agent_status}, operator reason ${recovery.reason ?? 'none'}`,
    };
  },
  ready_without_shell: ({ end, answered, detail }: TerminalTry): Held => ({
    held: end !== 'ready' || answered,
    detail,
  }),
  stuck_connecting: ({ end, detail }: TerminalTry): Held => ({ held: end !== 'silent', detail }),
  hand_edited_names: (manual: number): Held => ({
    held: manual === 0,
    detail: `${manual} manual entries`,
  }),
} as const;

/**
 * The must-nots of the catalogue, each as something that can be watched. `texts` are the
 * catalogue's own words.
 */
const workloadFailed: Invariant = {
  title: 'the workload and its app are not marked failed because the node is out of reach',
  texts: ['mark workload failed', 'mark app runtime failed'],
  when: 'always',
  before: (context) => allocationModel(context),
  check: async (context, before) =>
    workloadSince(before as AllocationModel | undefined, await allocationModel(context)),
};

/** What was marked before is not marked because of the fault. */
export function workloadSince(
  before: AllocationModel | undefined,
  now: AllocationModel,
): { held: boolean | null; detail: string } {
  if (before === undefined) return { held: null, detail: 'not read before the fault' };
  const earlier = meaning.workload_failed(before);
  return earlier.held
    ? meaning.workload_failed(now)
    : { held: null, detail: `before the fault already: ${earlier.detail}` };
}

const nodeReenrolled: Invariant = {
  title: 'the node keeps its identity: no new enrolment',
  texts: ['re-enroll node'],
  when: 'always',
  before: enrolments,
  async check(context, before) {
    if (before === undefined) return { held: null, detail: 'not read before the fault' };
    return meaning.node_reenrolled(before as number, await enrolments(context));
  },
};

async function enrolments(context: HookContext): Promise<number> {
  return (await nodeModel(context)).counters.recovery_successes ?? 0;
}

const hostConfigPartial: Invariant = {
  title: 'host configuration is whole: no key lost, none half written',
  texts: ['partially edit host config without evidence'],
  when: 'end',
  before: envKeys,
  async check(context, before) {
    if (before === undefined) return { held: null, detail: 'not read before the fault' };
    return meaning.host_config_partial(before as string[], await envKeys(context));
  },
};

/** Names only; the values hold a token. */
async function envKeys(context: HookContext): Promise<string[]> {
  const text = await mustOnNode(context, [
    'sed',
    '-n',
    's/^\\([A-Z_]*\\)=..*/\\1/p',
    '/etc/gpuaas/env',
  ]);
  return text.split('\n').filter((key) => key !== '');
}

const agentDownReported: Invariant = {
  title: 'a node that polls is not reported as down',
  texts: ['classify as node-agent down'],
  when: 'always',
  check: async (context) => meaning.agent_down_reported(await nodeModel(context)),
};

const genericUnreachable: Invariant = {
  title: 'the platform does not fall back to "unreachable" while the node still reports',
  texts: ['classify as generic node-agent unreachable'],
  when: 'always',
  check: async (context) => meaning.generic_unreachable(await nodeModel(context)),
};

const readyWithoutShell: Invariant = {
  title: 'a finished task is not shown as a ready terminal',
  texts: [
    'treat task success as session readiness',
    'treat terminal.open task success as terminal/session readiness',
  ],
  when: 'fault',
  check: async (context) =>
    meaning.ready_without_shell(await tryTerminal(context, deadline(context))),
};

const stuckConnecting: Invariant = {
  title: 'the user gets an explicit error inside the deadlines of the gateway',
  texts: ['stay "Connecting..." past the node-stream timeout', 'silently hang'],
  when: 'fault',
  check: async (context) => meaning.stuck_connecting(await tryTerminal(context, deadline(context))),
};

const deadline = ({ profile }: HookContext): number =>
  1000 * terminalSeconds(profile.policies) + 1500;

const handEditedNames: Invariant = {
  title: 'names on the node come from its profile, not from a manual entry',
  texts: ['use manual /etc/hosts edits as the repair (diagnostic only)'],
  when: 'end',
  async check(context) {
    const manual = await mustOnNode(context, [
      'sh',
      '-c',
      "grep -E 'gpuaas\\.test' /etc/hosts | grep -v '# gpuaas-node-bootstrap' | wc -l",
    ]);
    return meaning.hand_edited_names(Number(manual.trim()));
  },
};

/** Judged by the audit stage from the write log; declared here so that the table is whole. */
const databaseEdited: Invariant = {
  title: 'nobody but the platform writes to its database',
  texts: ['edit database'],
  when: 'end',
  check: () => Promise.resolve({ held: null, detail: 'judged by the audit' }),
};

export const invariants: Readonly<Record<string, Invariant>> = {
  database_edited: databaseEdited,
  workload_failed: workloadFailed,
  node_reenrolled: nodeReenrolled,
  retry_flood: retryFlood,
  host_config_partial: hostConfigPartial,
  agent_down_reported: agentDownReported,
  generic_unreachable: genericUnreachable,
  ready_without_shell: readyWithoutShell,
  stuck_connecting: stuckConnecting,
  hand_edited_names: handEditedNames,
};

/**
 * What the platform recorded about the node since a moment: the kind and the reason of every
 * change.
 */
export async function history(
  context: HookContext,
): Promise<readonly { at: string; kind: string; detail: string }[]> {
  interface Row {
    readonly at: string;
    readonly kind: string;
    readonly reason: string | null;
    readonly user_state: string | null;
  }
  const { events } = await api<{ events: Row[] }>(
    context,
    'GET',
    `/v1/nodes/${nodeOf(context).name}/history?since=${encodeURIComponent(context.since)}`,
  );
  return events.flatMap((event) => {
    const detail = `${event.kind} ${event.reason ?? ''}`.trim();
    return [event.kind, event.reason, event.user_state].flatMap((kind) =>
      kind === null ? [] : [{ at: event.at, kind, detail }],
    );
  });
}
