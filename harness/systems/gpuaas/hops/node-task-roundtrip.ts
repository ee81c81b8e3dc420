import type { Finding, HopDeclaration } from '../../../preflight/types.ts';
import { text } from '../flags.ts';
import {
  beat,
  claimSeconds,
  publicSeconds,
  resultSeconds,
  secondLookSeconds,
} from '../policies.ts';
import { type Answer, at, evidence, granted, round, str, tell } from '../probe/http.ts';
import { knownReason, poll } from '../probe/lazy.ts';
import { type ReadModel, readModel } from '../probe/read-model.ts';
import { localRecord, refusedTask } from '../probe/record.ts';
import { hasOperator, type Session } from '../probe/session.ts';
import { type Task, taskOf } from '../probe/task.ts';
import { charged } from '../probe/ways.ts';

interface Watched {
  readonly task: Task | null;
  readonly model: ReadModel | null;
}

/** From the contact of a poll to the task in its hands, on a machine that is busy. */
const graceMs = 700;

const over = new Set(['completed', 'failed', 'expired']);

/**
 * Asks quickly while a healthy answer is likely, though no more often than such an answer takes:
 * each question slows it down. And the read model now and then: it may know why none comes.
 */
async function watch(
  session: Session,
  taskId: string,
  forMs: number,
  done: (seen: Watched) => boolean,
): Promise<Watched> {
  const operator = await session.operator();
  const api = await session.api();
  const began = performance.now();
  let model: ReadModel | null = null;
  let lastModelAt = began;
  let latest: Watched = { task: null, model: null };
  await poll(
    async () => {
      const answer = await api(
        `/v1/tasks/${encodeURIComponent(taskId)}`,
        operator === undefined ? {} : { token: operator },
      );
      if (performance.now() - lastModelAt > 250) {
        lastModelAt = performance.now();
        model = readModel(await session.readNode()) ?? model;
      }
      latest = { task: taskOf(granted(answer) ? answer.json : null) ?? latest.task, model };
      return done(latest) ? latest : null;
    },
    { forMs, everyMs: 30, signal: session.run.signal },
  );
  return latest;
}

/**
 * Asked after each other, and ended by the other side each time: something on the way is less
 * patient than the poll.
 */
const pollsCut = (model: ReadModel | null): boolean => {
  const last = model?.lastPolls.slice(-3) ?? [];
  return last.length === 3 && last.every((one) => one.ended === 'disconnect');
};

const claimFailed = (cause: string, summary: string): Finding => ({
  status: 'fail',
  signal: 'node_task_claim_failed',
  cause,
  blames: 'unit:agent',
  summary,
});
const resultFailed = (cause: string, summary: string): Finding => ({
  status: 'fail',
  signal: 'node_task_result_post_failed',
  cause,
  blames: 'link:node-api',
  summary,
});

/** What an agent that does answer says of a task that it refuses. */
const refusalIn = (error: string | null): 'signature' | 'expiry' | 'journal' | null =>
  /journal/.test(error ?? '')
    ? 'journal'
    : /signature/.test(error ?? '')
      ? 'signature'
      : /^expired|expiry/.test(error ?? '')
        ? 'expiry'
        : null;

async function unclaimed(
  session: Session,
  task: Task | null,
  first: ReadModel | null,
  latest: ReadModel | null,
): Promise<Finding> {
  const enqueued = task?.createdAt ?? null;
  if (pollsCut(latest ?? first))
    return {
      ...claimFailed('poll_cut', 'polls end before their window is over'),
      blames: 'link:node-api',
    };
  const polled =
    latest?.heartbeatAt !== null &&
    latest?.heartbeatAt !== undefined &&
    enqueued !== null &&
    latest.heartbeatAt > enqueued;
  if (polled)
    return claimFailed(
      'not_claimed',
      'the agent polled after the task was enqueued and did not take it',
    );
  return {
    status: 'unknown',
    summary: `not taken, and no poll since it was enqueued (${round(claimSeconds(await session.policies()))} s)`,
  };
}

const notWaited = (explained: () => string | null): Finding => ({
  status: 'unknown',
  summary: `not waited for: ${explained()} has the answer`,
});

async function judge(
  session: Session,
  taskId: string,
  began: number,
  explained: () => string | null,
): Promise<Finding> {
  const policies = await session.policies();
  const first = readModel(await session.node());
  const taken = (seen: Watched) => seen.task !== null && seen.task.status !== 'queued';
  // A second beat after the enqueuing decides: a poll that was parked then has come back by now.
  let claimed = await watch(
    session,
    taskId,
    claimSeconds(policies) * 1000,
    (seen) => taken(seen) || secondPoll(seen, beat(policies)) || explained() !== null,
  );
  // A poll is told as contact a moment before it takes the task, and the task was read before the
  // contact: look once more.
  if (!taken(claimed) && explained() === null)
    claimed = await watch(session, taskId, graceMs, (seen) => taken(seen) || explained() !== null);
  if (!taken(claimed) && explained() !== null) return notWaited(explained);
  if (!taken(claimed)) return unclaimed(session, claimed.task, first, claimed.model);
  const ended = await watch(
    session,
    taskId,
    resultSeconds(policies) * 1000,
    (seen) =>
      (seen.task !== null && over.has(seen.task.status)) ||
      seen.model?.agentStatus === 'task_result_failed' ||
      explained() !== null,
  );
  const { task, model } = ended;
  const tookMs = round(performance.now() - began);
  if (task?.status === 'completed')
    return { status: 'pass', summary: `taken and answered in ${tookMs} ms` };
  if (task?.status !== 'failed' && explained() !== null) return notWaited(explained);
  const visit = text(session.request, 'node-host') === undefined ? null : await session.visit();
  const refused =
    task?.status === 'failed' ? refusalIn(task.error) : await refusedTask(visit, taskId);
  if (refused) return claimFailed(refused, `taken off the queue, refused by the agent: ${refused}`);
  if (task?.status === 'failed')
    return task.error === 'no_space'
      ? { ...claimFailed('journal', 'the agent cannot keep the task: no space'), blames: 'fs:/' }
      : claimFailed('task_failed', `the agent could not do it: ${task.error}`);
  const record = visit ? localRecord(visit) : null;
  if (model?.agentStatus === 'task_result_failed')
    return resultFailed(
      'task_result_failed',
      `taken, no result; the API says task_result_failed after ${tookMs} ms`,
    );
  // An agent that stopped polling after it took the task says nothing about the way of results.
  const latest = readModel(await session.readNode());
  const alive =
    latest?.heartbeatAt !== null &&
    latest?.heartbeatAt !== undefined &&
    latest.heartbeatAt > (task?.dispatchedAt ?? 0);
  if (!alive)
    return { status: 'unknown', summary: 'taken, no result, and no poll since it was taken' };
  return resultFailed(
    'result_missing',
    `taken, no result within ${resultSeconds(policies)} s${record?.reason ? `; local record: ${record.reason}` : ''}`,
  );
}

/** Nothing was refused: it took too long. */
const isLate = ({ status, cause = '' }: Finding): boolean =>
  status === 'unknown' || ['not_claimed', 'poll_cut', 'result_missing'].includes(cause);

const secondPoll = ({ task, model }: Watched, beatSeconds: number): boolean =>
  task?.createdAt !== null &&
  task?.createdAt !== undefined &&
  model?.heartbeatAt !== null &&
  model?.heartbeatAt !== undefined &&
  model.heartbeatAt > task.createdAt + Math.min(beatSeconds * 1000, 1000);

export const nodeTaskRoundtrip: HopDeclaration<Session> = {
  id: 'node_task_roundtrip',
  title: 'A simple task is claimed by the agent and its result arrives',
  section: 'node task claim/result round trip',
  vantage: 'control_plane',
  after: [],
  explainedBy: [
    'node_readiness',
    'node_runtime_api_reachability',
    'node_recovery_status',
    'node_heartbeat',
  ],
  signals: ['node_task_claim_failed', 'node_task_result_post_failed'],
  deadlineMs: (policies) =>
    (publicSeconds * 2 + claimSeconds(policies) + resultSeconds(policies) + secondLookSeconds) *
    1000,
  skip: (request) =>
    text(request, 'api-base') !== undefined && hasOperator(request)
      ? null
      : 'no operator token for the API',
  run: async (session, earlier) => {
    const began = performance.now();
    const answer: Answer = await session.task();
    const taskId = granted(answer) ? str(at(answer.json, 'task_id')) : null;
    if (taskId === null)
      return {
        status: 'unknown',
        summary: `no probe task could be enqueued: ${tell(answer)}`,
        steps: answer.steps,
      };
    const explained = () => knownReason(earlier, began);
    const judged = await judge(session, taskId, began, explained);
    const finding =
      isLate(judged) && explained() === null ? await charged(session, judged, ['api']) : judged;
    return {
      ...finding,
      target: taskId,
      steps: answer.steps,
      evidence: [evidence('task', 'api', { task_id: taskId }), ...(finding.evidence ?? [])],
    };
  },
};
