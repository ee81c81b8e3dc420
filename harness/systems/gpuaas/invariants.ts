import type { HookContext, Invariant } from '../hooks.ts';
import { mustOnNode } from './platform.ts';
import { retryFlood } from './retries.ts';

/** What views cannot say: the keys that were there before are still there. */
export function configWhole(
  before: readonly string[],
  now: readonly string[],
): { readonly held: boolean; readonly detail: string } {
  const lost = before.filter((key) => !now.includes(key));
  return {
    held: lost.length === 0,
    detail: lost.length === 0 ? `${now.length} keys` : `lost: ${lost.join(', ')}`,
  };
}

const hostConfigPartial: Invariant = {
  title: 'host configuration is whole: no key lost, none half written',
  texts: ['partially edit host config without evidence'],
  when: 'end',
  before: envKeys,
  async check(context, before) {
    if (before === undefined) return { held: null, detail: 'not read before the fault' };
    return configWhole(before as string[], await envKeys(context));
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

/**
 * The must-nots of the catalogue, each as something that can be watched. `texts` are the
 * catalogue's own words.
 */
export const invariants: Readonly<Record<string, Invariant>> = {
  database_edited: {
    title: 'nobody but the platform writes to its database',
    texts: ['edit database'],
    when: 'audit',
  },
  // What was marked before is not marked because of the fault.
  workload_failed: {
    title: 'the workload and its app are not marked failed because the node is out of reach',
    texts: ['mark workload failed', 'mark app runtime failed'],
    when: 'always',
    observe: [{ 'allocation.app': { is: { failed_marks: { rises: { max: 0 } } } } }],
  },
  node_reenrolled: {
    title: 'the node keeps its identity: no new enrolment',
    texts: ['re-enroll node'],
    when: 'always',
    observe: [{ 'node.counters': { is: { recovery_successes: { same: true } } } }],
  },
  retry_flood: retryFlood,
  host_config_partial: hostConfigPartial,
  agent_down_reported: {
    title: 'a node that polls is not reported as down',
    texts: ['classify as node-agent down'],
    when: 'always',
    observe: [{ node: { is: { down_reported: false } } }],
  },
  generic_unreachable: {
    title: 'the platform does not fall back to "unreachable" while the node still reports',
    texts: ['classify as generic node-agent unreachable'],
    when: 'always',
    observe: [{ node: { is: { unreachable_reported: false } } }],
  },
  ready_without_shell: {
    title: 'a finished task is not shown as a ready terminal',
    texts: [
      'treat task success as session readiness',
      'treat terminal.open task success as terminal/session readiness',
    ],
    when: 'fault',
    observe: [{ terminal: { is: { ready_without_shell: false } } }],
  },
  stuck_connecting: {
    title: 'the user gets an explicit error inside the deadlines of the gateway',
    texts: ['stay "Connecting..." past the node-stream timeout', 'silently hang'],
    when: 'fault',
    observe: [{ terminal: { is: { end: { one_of: ['ready', 'told', 'refused'] } } } }],
  },
  hand_edited_names: {
    title: 'names on the node come from its profile, not from a manual entry',
    texts: ['use manual /etc/hosts edits as the repair (diagnostic only)'],
    when: 'end',
    observe: [{ 'node.names': { is: { by_hand: 0 } } }],
  },
};
