// Two faults at once: which pairs there are, and what must be seen of each, from the
// situations as data.

import { conflictOf, type NamedFault } from '../../../harness/faults/conflicts.ts';
import type { Judged } from '../../../harness/preflight/attribution.ts';
import type { Scenario } from '../../../harness/records/scenario.ts';
import gpuaas from '../../../harness/systems/gpuaas/index.ts';
import { needsData, type Picture, type Said, type Situation } from '../unit/data/replay.ts';
import { nodeAgent } from '../unit/data/replay-node-agent.ts';
import { terminal } from '../unit/data/replay-terminal.ts';
import { faults } from './faults.ts';

const { hops } = gpuaas.asked;

export interface Pair {
  readonly name: string;
  /** In the order of their hops; the side hop comes last. */
  readonly first: Scenario;
  readonly second: Scenario;
}

export interface Expected {
  readonly hop: string;
  readonly also: readonly string[];
  /** Whose fault is repaired first; then the other's hop is named. */
  readonly repairFirst: Scenario;
  readonly thenNamed: Scenario;
}

export const sideHop = 'node_ops_access';
const orderOf = (id: string): number => hops.find((hop) => hop.id === id)?.order ?? 0;
const rank = (scenario: Scenario): number =>
  scenario.record.expect.hop === sideHop ? 1000 : orderOf(scenario.record.expect.hop);
export const hopOf = (scenario: Scenario): string => scenario.record.expect.hop;

const faultsOf = ({ record }: Scenario): NamedFault[] =>
  record.faults.flatMap((entry) =>
    Object.entries(entry).map(([name, params]) => ({ name, params })),
  );

const byName = Object.fromEntries(faults.map((fault) => [fault.name, fault]));
const cannotBeBoth = (one: NamedFault, other: NamedFault): boolean =>
  conflictOf(byName, one, other) !== undefined;

/** A situation that stays green has no hop that could be named, so it is no half of a pair. */
export function allPairs(scenarios: readonly Scenario[]): Pair[] {
  const failing = scenarios.filter((scenario) => hopOf(scenario) !== 'none');
  return failing.flatMap((a, index) =>
    failing.slice(index + 1).flatMap((b) => {
      if (faultsOf(a).some((one) => faultsOf(b).some((other) => cannotBeBoth(one, other))))
        return [];
      const [first, second] = rank(a) <= rank(b) ? [a, b] : [b, a];
      return [
        {
          name: `${first!.record.scenario} + ${second!.record.scenario}`,
          first: first!,
          second: second!,
        },
      ];
    }),
  );
}

/** The situation of the table that a scenario acts out: same id, same hop, signal and cause. */
export function situationOf(scenario: Scenario): Situation {
  const { source, expect } = scenario.record;
  const ofId = [...nodeAgent, ...terminal].filter(
    (one) => source.includes(one.id) && typeof one.pin !== 'string' && one.pin.hop === expect.hop,
  );
  const exact = ofId.find((one) => typeof one.pin !== 'string' && one.pin.cause === expect.cause);
  const found = exact ?? ofId[0];
  if (found === undefined)
    throw new Error(`${scenario.record.scenario} acts out no situation of the table`);
  return found;
}

/**
 * Asked on the node, over SSH. Nothing is known of them without it, only that a current heartbeat
 * has found its way.
 */
const askedOnNode = [
  'node_readiness',
  'node_runtime_api_reachability',
  'node_recovery_status',
  'node_terminal_reachability',
];

function withoutWayIn(picture: Picture): Picture {
  const hidden = askedOnNode.filter(
    (id) =>
      typeof picture[id] === 'object' ||
      id === 'node_readiness' ||
      id === 'node_terminal_reachability',
  );
  return { ...picture, ...Object.fromEntries(hidden.map((id) => [id, 'unknown' as const])) };
}

export function merged(pair: Pair): Picture {
  const a = situationOf(pair.first).late;
  const b = situationOf(pair.second).late;
  const both: Record<string, Said> = { ...a };
  for (const [id, said] of Object.entries(b)) {
    const other = both[id];
    if (other === undefined) both[id] = said;
    else if (needsData.has(id) && (said === 'unknown' || other === 'unknown')) both[id] = 'unknown';
    else if (typeof other === 'string' || id === hopOf(pair.second))
      both[id] = id === hopOf(pair.first) ? other : said;
  }
  return hopOf(pair.second) === sideHop ? withoutWayIn(both) : both;
}

export function judgedOf(picture: Picture): Judged[] {
  return hops.map((hop) => {
    const said = picture[hop.id];
    const base = {
      id: hop.id,
      order: hop.order,
      explainedBy: hop.explainedBy,
      side: hop.side ?? false,
    };
    if (said === undefined) return { ...base, status: 'pass' };
    if (said === 'warn') return { ...base, status: 'warn', inconclusive: 'not stale yet' };
    if (said === 'silent warn') return { ...base, status: 'warn' };
    return typeof said === 'string'
      ? { ...base, status: said }
      : { ...base, status: 'fail', blames: said.blames, charges: said.charges };
  });
}

/**
 * A path of explanations from one hop to another, through hops that fail or are unknown and never
 * through one that passes.
 */
export function leadsTo(
  from: string,
  to: string,
  picture: Picture,
  seen: readonly string[] = [],
): boolean {
  if (from === to) return true;
  const said = picture[from];
  if (said === undefined || said === 'warn' || said === 'silent warn' || seen.includes(from))
    return false;
  const explainers = hops.find((hop) => hop.id === from)?.explainedBy ?? [];
  return explainers.some((by) => {
    if (typeof by === 'string') return leadsTo(by, to, picture, [...seen, from]);
    const parent = picture[by.hop];
    return (
      typeof parent === 'object' &&
      parent.blames === by.whenBlames &&
      leadsTo(by.hop, to, picture, [...seen, from])
    );
  });
}

/**
 * Nobody waits any longer for a stream once the node itself is known to be in trouble: whether its
 * refusal came before that is a matter of tenths of a second.
 */
export const mayBeGivenUp = ({ first }: Pair, hop: string): boolean =>
  hop === 'gateway_node_stream' && hopOf(first) === 'node_readiness';

/**
 * Pairs with the side hop, by hand: without a way in, what is measured on the node is unknown, and
 * what follows from it is named in its stead. Operator access is never the failed hop then; it is
 * explained by a stale heartbeat and by nothing else.
 */
const besideSideHop: Readonly<Record<string, { hop: string; also: readonly string[] }>> = {
  node_readiness: { hop: 'workload_terminal_startup_failure', also: [sideHop] },
  node_runtime_api_reachability: { hop: 'node_heartbeat', also: [] },
  // What is wrong with the certificate is read on the node.
  node_recovery_status: { hop: 'node_heartbeat', also: [] },
  node_heartbeat: { hop: 'node_heartbeat', also: [] },
  node_task_roundtrip: { hop: 'node_task_roundtrip', also: [sideHop] },
  terminal_public_route: { hop: 'terminal_public_route', also: [sideHop] },
  browser_terminal_ws: { hop: 'browser_terminal_ws', also: [sideHop] },
  node_terminal_reachability: { hop: 'gateway_node_stream', also: [sideHop] },
  gateway_node_stream: { hop: 'gateway_node_stream', also: [sideHop] },
  workload_terminal_startup_failure: { hop: 'workload_terminal_startup_failure', also: [sideHop] },
};

/**
 * One hop cannot say two things: the fault that it does not name shows where else its own resource
 * is needed.
 */
function elsewhere({ first, second }: Pair, picture: Picture): string[] {
  const late = situationOf(second).late;
  const own = late[hopOf(second)];
  const named = picture[hopOf(first)];
  if (typeof own !== 'object' || typeof named !== 'object' || own.blames === named.blames)
    return [];
  const others = Object.entries(late).filter(
    ([id, said]) => id !== hopOf(second) && typeof said === 'object' && said.blames === own.blames,
  );
  return others.map(([id]) => id).filter((id) => !leadsTo(id, hopOf(first), picture));
}

export function expectedOf(pair: Pair): Expected {
  const { first, second } = pair;
  const order = { repairFirst: first, thenNamed: second };
  if (hopOf(second) === sideHop) {
    const known = besideSideHop[hopOf(first)];
    if (known === undefined) throw new Error(`no line for ${hopOf(first)} beside the side hop`);
    return { ...known, ...order };
  }
  const picture = merged(pair);
  const [a, b] = [picture[hopOf(first)], picture[hopOf(second)]];
  if (hopOf(first) === hopOf(second))
    return { hop: hopOf(first), also: elsewhere(pair, picture), ...order };
  const hidden = typeof b !== 'object';
  const sameResource = typeof a === 'object' && typeof b === 'object' && a.blames === b.blames;
  const explained = hidden || sameResource || leadsTo(hopOf(second), hopOf(first), picture);
  return { hop: hopOf(first), also: explained ? [] : [hopOf(second)], ...order };
}
