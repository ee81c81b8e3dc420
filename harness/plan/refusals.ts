import { waysOf } from '../faults/carriers.ts';
import type { FaultPlan } from '../records/fault.ts';
import type { RunPlan } from '../records/plan.ts';
import type { Profile } from '../records/profile.ts';
import { isHeldByWatchdog } from '../undo/holding.ts';
import type { PlanInput } from './plan.ts';

type Node = Profile['nodes'][string];

/** How somebody gets to a node that is broken, and whether that way survives. */
export function lifelinesOf(
  profile: Profile,
  targets: readonly string[],
  cuts: readonly string[],
): RunPlan['lifelines'] {
  const nodes = targets.flatMap((target) =>
    target.startsWith('node:') ? [target.slice('node:'.length)] : [],
  );
  return nodes.flatMap((name) => {
    const node = profile.nodes[name];
    if (node === undefined) return [];
    const way =
      node.lifeline.kind === 'docker'
        ? `docker exec ${node.lifeline.container}`
        : `ssh ${node.lifeline.host}:${node.lifeline.port}`;
    const lost = cutsOfLifeline(profile, name, node);
    return [{ target: `node:${name}`, way, survives: !cuts.some((cut) => lost.includes(cut)) }];
  });
}

function cutsOfLifeline({ parts }: Profile, name: string, { lifeline, ssh }: Node): string[] {
  if (lifeline.kind === 'docker')
    return Object.entries(parts).flatMap(([part, { container }]) =>
      container === lifeline.container ? [`part:${part}`] : [],
    );
  const isItsSsh = ssh?.host === lifeline.host && ssh.port === lifeline.port;
  return isItsSsh ? [`ssh:${name}`] : [];
}

/** Why a run is not begun: all at once. */
export function refusalsOf(
  { scenario, profile, faults, node, deadman, cannotAsk }: PlanInput,
  lifelines: RunPlan['lifelines'],
): string[] {
  const refusals: string[] = [...cannotAsk];
  if (!profile.disposable)
    refusals.push(
      `the targets of ${profile.stack} (${profile.environment}) are not marked disposable`,
    );
  if (profile.system !== scenario.record.system)
    refusals.push(
      `the profile is one of ${profile.system}, the scenario needs ${scenario.record.system}`,
    );
  if (node !== null && profile.nodes[node] === undefined)
    refusals.push(
      `the profile has no node ${node}: say --node with one of its own (${Object.keys(profile.nodes).join(', ') || 'it has none'})`,
    );
  for (const lifeline of lifelines.filter((one) => !one.survives)) {
    refusals.push(
      `${lifeline.way} is the only lifeline of ${lifeline.target}, and a fault cuts it`,
    );
  }
  for (const fault of faults) {
    const [kind, name = ''] = fault.target.split(/:(.*)/s);
    if (kind === 'part' && profile.parts[name] === undefined)
      refusals.push(`the profile has no part ${name}`);
    if (kind === 'link' && profile.links === undefined)
      refusals.push(`the profile has no toxiproxy for ${fault.target}`);
    if (deadman && profile.watchdog === undefined && fault.undo.some(isHeldByWatchdog))
      refusals.push(noWatchdog(fault.target));
  }
  return [...new Set([...refusals, ...waysCut(faults, profile)])];
}

const noWatchdog = (target: string): string =>
  `the profile names no watchdog, so nobody puts ${target} back when the runner is killed: add "watchdog: here" to the profile, or say --no-deadman`;

/** The watchdog asks the platform and toxiproxy by one way each, which no fault of the run may cut. */
function waysCut(faults: readonly FaultPlan[], profile: Profile): string[] {
  const cuts = new Set(faults.flatMap((fault) => fault.cuts));
  return faults.flatMap((fault) =>
    waysOf(fault, profile)
      .filter((way) => cuts.has(way))
      .map(
        (way) =>
          `${way} is the only way by which the watchdog takes ${fault.fault} on ${fault.target} back, and a fault cuts it`,
      ),
  );
}
