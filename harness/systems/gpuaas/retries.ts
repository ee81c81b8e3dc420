import { openDocker } from '../../drivers/docker.ts';
import type { HookContext, Invariant } from '../hooks.ts';
import { shellOnNode } from './evidence-node.ts';
import { nodeModel, nodeOf } from './platform.ts';
import { backoff } from './policies.ts';

/**
 * How often a node knocks while it is refused, from three witnesses: the agent's journal (it writes
 * a line before each retry), the log of the ingress, and the counters that the platform keeps. The
 * one that saw most decides.
 */
export interface Knocks {
  readonly rounds: number;
  readonly refused: number;
  readonly enrolments: number;
  /** Fresh starts of the backoff: the agent began again, or something worked in between. */
  readonly starts: number;
}

/**
 * The agent waits at least half of a step, the steps double from a quarter of a second up to the
 * policy.
 */
const firstWaitSeconds = 0.125;

/** Rounds that a node which backs off can make in that time; the first comes at once. */
export function allowedRounds(seconds: number, maxBackoffSeconds: number, starts: number): number {
  const longest = maxBackoffSeconds / 2;
  let quick = 1;
  for (let wait = firstWaitSeconds; wait < longest; wait *= 2) quick += 1;
  return Math.ceil((1 + starts) * quick + seconds / Math.max(longest, firstWaitSeconds));
}

export function judgeKnocks(
  knocks: Knocks,
  seconds: number,
  maxBackoffSeconds: number,
): { held: boolean; detail: string } {
  const most = Math.max(knocks.rounds, knocks.refused, knocks.enrolments);
  const allowed = allowedRounds(seconds, maxBackoffSeconds, knocks.starts);
  const seen = `${knocks.rounds} rounds in the journal, ${knocks.refused} refused at the ingress, ${knocks.enrolments} enrolments`;
  return {
    held: most <= allowed,
    detail: `${seen} in ${Math.round(seconds)} s; backing off allows ${allowed}`,
  };
}

/**
 * Rounds of the poll loop: one correlation id each, however many lines. Troubles of terminals and
 * results are other loops.
 */
export function readJournal(text: string): Pick<Knocks, 'rounds' | 'starts'> {
  const lines = jsonLines(text);
  const others = [
    'terminal_stream_failed',
    'pty_failed',
    'task_result_post_failed',
    'task_signature_rejected',
  ];
  const rounds = lines.filter(
    (line) => line.event === 'diagnostic' && !others.includes(String(line.reason)),
  );
  return {
    rounds: new Set(rounds.map((line) => line.correlation_id)).size,
    starts: lines.filter((line) =>
      ['agent_started', 'recovered', 'enrolled'].includes(String(line.event)),
    ).length,
  };
}

/**
 * Real polls of this node that were refused. A preflight asks with a word of its own and does not
 * count.
 */
export function readIngress(text: string, node: string): number {
  const polls = jsonLines(text).filter(({ uri }) =>
    String(uri).startsWith(`/internal/v1/nodes/${node}/tasks/wait`),
  );
  return polls.filter(
    ({ uri, status }) => !String(uri).includes('claim=false') && Number(status) >= 400,
  ).length;
}

function jsonLines(text: string): Readonly<Record<string, unknown>>[] {
  return text.split('\n').flatMap((line) => {
    const start = line.indexOf('{');
    try {
      return start < 0 ? [] : [JSON.parse(line.slice(start)) as Record<string, unknown>];
    } catch {
      return [];
    }
  });
}

interface Before {
  readonly at: number;
  readonly enrolments: number;
}

export const retryFlood: Invariant = {
  title: 'retries back off instead of flooding the API',
  texts: ['retry flood', 'increase retry pressure'],
  when: 'twice',
  before: async (context): Promise<Before> => ({
    at: Date.now(),
    enrolments: await enrolments(context),
  }),
  async check(context, before) {
    const earlier = before as Before | undefined;
    if (earlier === undefined) return { held: null, detail: 'not read before the fault' };
    const [journal, refused, now] = await Promise.all([
      journalOf(context, earlier.at),
      refusedAtIngress(context, earlier.at),
      enrolments(context),
    ]);
    const knocks = { ...readJournal(journal), refused, enrolments: now - earlier.enrolments };
    return judgeKnocks(knocks, (Date.now() - earlier.at) / 1000, backoff(context.profile.policies));
  },
};

async function enrolments(context: HookContext): Promise<number> {
  return (await nodeModel(context)).counters.recovery_attempts ?? 0;
}

function journalOf(context: HookContext, since: number): Promise<string> {
  const { agentUnit } = nodeOf(context).node;
  return shellOnNode(
    context,
    `journalctl -u ${agentUnit} --since @${(since / 1000).toFixed(3)} --no-pager -o cat`,
  );
}

/** A platform that names no ingress is judged by its node alone. */
async function refusedAtIngress(context: HookContext, since: number): Promise<number> {
  const container = context.profile.parts.ingress?.container;
  if (container === undefined) return 0;
  return readIngress(
    await openDocker().logsSince(container, new Date(since)),
    nodeOf(context).name,
  );
}
