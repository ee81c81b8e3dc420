import type { Finding, HopDeclaration } from '../../../preflight/types.ts';
import { text } from '../flags.ts';
import { claimSeconds, publicSeconds, sessionSeconds } from '../policies.ts';
import type { Conversation } from '../probe/conversation.ts';
import { at, evidence, granted, str, tell } from '../probe/http.ts';
import { knownReason, poll, sleep } from '../probe/lazy.ts';
import { readModel } from '../probe/read-model.ts';
import { refusedTask } from '../probe/record.ts';
import { lacksForTerminal, type Session } from '../probe/session.ts';
import { type Task, taskOf } from '../probe/task.ts';

const fail = (cause: string, summary: string, blames: string): Finding => ({
  status: 'fail',
  signal: 'terminal_open_not_completed',
  cause,
  summary,
  blames,
});

/** Refused by the agent: it was handed out, and the agent did not take it on. */
function agentRefusal(task: Task): string | null {
  if (task.status !== 'failed' || task.error === null) return null;
  if (/^(journal|no_space)/.test(task.error)) return 'journal';
  if (/signature/.test(task.error)) return 'signature';
  return /^expired|expiry/.test(task.error) ? 'expiry' : null;
}

/** From the contact of a poll to the task in its hands, on a machine that is busy. */
const graceMs = 500;

/**
 * How often the API is asked while the gateway, which pushes its news, has none: every question
 * slows the answer down.
 */
const lookEveryMs = 250;

const visitOf = async (session: Session) =>
  text(session.request, 'node-host') === undefined ? null : session.visit();

interface Seen {
  readonly answered: boolean;
  readonly task: Task | null;
  readonly state: string | null;
  readonly told: string;
}

/** The session as the API tells it now. */
async function look(session: Session, id: string): Promise<Seen> {
  const token = (await session.operator()) ?? (await session.user());
  const answer = await (await session.api())(
    `/v1/terminal/sessions/${encodeURIComponent(id)}`,
    token === undefined ? {} : { token },
  );
  return {
    answered: granted(answer),
    task: granted(answer) ? taskOf(at(answer.json, 'open_task')) : null,
    state: granted(answer) ? str(at(answer.json, 'state')) : null,
    told: tell(answer),
  };
}

/** Asks until the agent took the task or no longer can, or until another hop has the answer. */
async function waitUntilTaken(
  session: Session,
  id: string,
  conversation: Conversation,
  streamSeen: () => boolean,
  explained: () => string | null,
): Promise<{ seen: Seen; ended: boolean }> {
  const policies = await session.policies();
  let seen: Seen = { answered: false, task: null, state: null, told: 'not asked' };
  let ended = false;
  void conversation.end().then(() => {
    ended = true;
  });
  let lookedAt = performance.now();
  await poll(
    async () => {
      const due = performance.now() - lookedAt >= lookEveryMs;
      if (!due && !streamSeen() && !ended) return explained() === null ? null : seen;
      lookedAt = performance.now();
      seen = await look(session, id);
      const taken = seen.task !== null && seen.task.status !== 'queued';
      // Handed out is not taken on: a stream shows that it was, and the end of the session is the
      // time to ask why not.
      return explained() !== null ||
        (taken && (streamSeen() || ended)) ||
        (ended && seen.answered && seen.task === null)
        ? seen
        : null;
    },
    {
      forMs: Math.max(claimSeconds(policies), sessionSeconds(policies)) * 1000,
      everyMs: 15,
      signal: session.run.signal,
      pause: (ms) => conversation.news(ms),
    },
  );
  return { seen, ended };
}

async function judge(
  session: Session,
  id: string,
  conversation: Conversation,
  explained: () => string | null,
): Promise<Finding> {
  const streamSeen = () =>
    conversation.states().some((state) => state === 'node_stream_connected' || state === 'ready');
  const { seen, ended } = await waitUntilTaken(session, id, conversation, streamSeen, explained);
  const reason = explained();
  if (reason !== null && !streamSeen())
    return { status: 'unknown', summary: `not waited for: ${reason} has the answer` };
  const end = ended ? await conversation.end() : null;
  if (end?.kind === 'error' && end.frame.code === 'terminal_open_not_enqueued')
    return fail(
      'not_enqueued',
      'the gateway says that the API did not enqueue terminal.open',
      'service:api',
    );
  if (!seen.answered)
    return streamSeen()
      ? { status: 'pass', vantage: 'gateway', summary: 'a stream came, so it was taken' }
      : { status: 'unknown', summary: `the API did not tell of the session: ${seen.told}` };
  if (seen.task === null)
    return ended
      ? fail('not_enqueued', 'no terminal.open was enqueued for the session', 'service:api')
      : { status: 'unknown', summary: 'no terminal.open yet' };
  const refused = agentRefusal(seen.task);
  if (refused)
    return fail(
      refused,
      `handed out, refused by the agent: ${seen.task.error}`,
      seen.task.error === 'no_space' ? 'fs:/' : 'unit:agent',
    );
  const { id: task_id, status, error, claims } = seen.task;
  return {
    evidence: [evidence('open_task', 'api', { task_id, status, error, claims })],
    ...(await judgeTask(session, id, seen.task, streamSeen)),
  };
}

/** Whether the agent took on a task of which nobody says that it was refused. */
async function judgeTask(
  session: Session,
  id: string,
  task: Task,
  streamSeen: () => boolean,
): Promise<Finding> {
  const silent =
    task.status === 'dispatched' && !streamSeen()
      ? await refusedTask(await visitOf(session), task.id)
      : null;
  if (silent) return fail(silent, `handed out, refused by the agent (${silent})`, 'unit:agent');
  if (task.status !== 'queued' || streamSeen())
    return {
      status: 'pass',
      summary: `terminal.open ${task.status}${task.error ? ` (${task.error})` : ''}`,
    };
  return judgeQueuedTask(session, id, task);
}

/** A task that still waits is the agent's fault only if the agent polled since it was enqueued. */
async function judgeQueuedTask(session: Session, id: string, task: Task): Promise<Finding> {
  const model = readModel(await session.readNode());
  const polled =
    model?.heartbeatAt !== null &&
    model?.heartbeatAt !== undefined &&
    task.createdAt !== null &&
    model.heartbeatAt > task.createdAt;
  // A poll is told as contact a moment before it takes the task.
  if (polled) await sleep(graceMs);
  const last = polled ? (await look(session, id)).task : null;
  if (last !== null && last.status !== 'queued')
    return { status: 'pass', summary: `terminal.open ${last.status}` };
  if (polled)
    return fail(
      'not_claimed',
      'the agent polled after it was enqueued, and did not take it',
      'unit:agent',
    );
  return { status: 'unknown', summary: 'enqueued, not taken, and no poll since' };
}

export const terminalOpenTask: HopDeclaration<Session> = {
  id: 'terminal_open_task',
  title: 'The API enqueues terminal.open and the agent takes it',
  section: 'terminal.open task lifecycle',
  vantage: 'control_plane',
  after: [],
  explainedBy: ['node_task_roundtrip', 'browser_terminal_ws'],
  signals: ['terminal_open_not_completed'],
  deadlineMs: (policies) =>
    (3 * publicSeconds + claimSeconds(policies) + sessionSeconds(policies)) * 1000,
  skip: lacksForTerminal,
  run: async (session, earlier) => {
    const began = performance.now();
    const [conversation, id] = await Promise.all([session.terminal(), session.sessionId()]);
    if (conversation === null || id === null)
      return { status: 'unknown', summary: 'there is no session' };
    if (conversation.refused)
      return {
        status: 'unknown',
        summary: 'the browser side was not accepted, so nothing was opened',
      };
    return {
      ...(await judge(session, id, conversation, () => knownReason(earlier, began))),
      target: id,
    };
  },
};
