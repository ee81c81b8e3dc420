// The words in which the 38 situations of the node-agent and terminal domains are written as data:
// what each probe says two seconds after the fault and late, and which hop, signal and cause must
// come out.
export interface Failing {
  readonly signal: string;
  readonly cause: string;
  readonly blames: string;
  /** The earlier hop that this one found to be what it waited for. */
  readonly charges?: string;
}
export type Said = Failing | 'unknown' | 'warn' | 'silent warn' | 'skipped';
export type Picture = Readonly<Record<string, Said>>;
export type Pin =
  | { readonly hop: string; readonly signal: string; readonly cause: string }
  | 'healthy'
  | 'inconclusive';

export interface Situation {
  readonly id: string;
  readonly variant?: string;
  readonly pin: Pin;
  /** What the run two seconds after the fault may say besides the pin. */
  readonly early?: Picture;
  readonly late: Picture;
}

export const fail = (signal: string, cause: string, blames: string): Failing => ({
  signal,
  cause,
  blames,
});
export const pinned = (hop: string, said: Failing): Pin => ({
  hop,
  signal: said.signal,
  cause: said.cause,
});

export const noSession: Picture = {
  terminal_open_task: 'unknown',
  gateway_node_stream: 'unknown',
  workload_terminal_startup_failure: 'unknown',
};
/** The agent does not poll (any more): nothing is taken, and nothing follows. */
export const noPolls: Picture = { node_task_roundtrip: 'unknown', ...noSession };
export const stale = (cause: string): Picture => ({
  node_heartbeat: fail('node_agent_heartbeat_stale', cause, 'unit:agent'),
  ...noPolls,
});
export const noStream = (cause: string): Picture => ({
  gateway_node_stream: fail('terminal_node_stream_timeout', cause, 'link:term'),
  workload_terminal_startup_failure: 'unknown',
});

/** One hop fails, with its consequences before and after the heartbeat is stale. */
export function situation(
  id: string,
  hop: string,
  said: Failing,
  late: Picture = {},
  early: Picture = late,
  variant?: string,
): Situation {
  return {
    id,
    pin: pinned(hop, said),
    early: { ...early, [hop]: said },
    late: { ...late, [hop]: said },
    ...(variant !== undefined && { variant }),
  };
}

export const streamTimeout = (cause: string, blames = 'link:term') =>
  fail('terminal_node_stream_timeout', cause, blames);

/** Without its data a hop says nothing, whatever else is broken behind it. */
export const needsData = new Set([
  'allocation_binding',
  'node_task_roundtrip',
  'browser_terminal_ws',
  'terminal_open_task',
  'gateway_node_stream',
  'workload_terminal_startup_failure',
]);
