import type { Finding, HopDeclaration } from '../../../preflight/types.ts';
import { text } from '../flags.ts';
import { publicSeconds, secondLookSeconds, visitSeconds } from '../policies.ts';
import { evidence, round, tell } from '../probe/http.ts';
import { type Freshness, freshness, type ReadModel, readModel } from '../probe/read-model.ts';
import { currentReason, localRecord } from '../probe/record.ts';
import { hasOperator, type Session } from '../probe/session.ts';
import { type UnitState, unitState } from '../probe/unit.ts';
import type { Visit } from '../probe/visit.ts';
import { charged } from '../probe/ways.ts';
import { withWord } from '../probe/word.ts';

/** Facts of the node that are a failure whatever the clock of the heartbeat says. */
function brokenUnit(unit: UnitState): Finding | null {
  if (unit.kind === 'not_executable')
    return {
      status: 'fail',
      signal: 'node_agent_binary_invalid',
      cause: unit.cause,
      blames: 'unit:agent',
      summary: unit.summary,
    };
  if (unit.kind === 'failed')
    return {
      status: 'fail',
      signal: 'node_agent_process_down',
      cause: unit.cause,
      blames: 'unit:agent',
      summary: unit.summary,
    };
  return null;
}

/** Why a running agent does not poll, as far as the node tells. */
function staleCause(visit: Visit | null): string {
  if (!visit?.sections) return 'no_recent_poll';
  if (visit.sections.process?.state === 'T') return 'process_frozen';
  if (outOfDescriptors(visit)) return 'fd_exhausted';
  return currentReason(localRecord(visit)) === 'task_poll_failed'
    ? 'task_poll_failed'
    : 'no_recent_poll';
}

/** A connection and a file to read at the same time is what the agent needs. */
const neededDescriptors = 3;

function outOfDescriptors(visit: Visit): boolean {
  const code = localRecord(visit)?.code ?? '';
  if (code === 'EMFILE' || code === 'ENFILE') return true;
  const [open, most] = (visit.sections?.process?.fds ?? '').split('/').map(Number);
  return open !== undefined && most !== undefined && open + neededDescriptors > most;
}

function judge(
  age: Freshness | null,
  model: ReadModel | null,
  unit: UnitState | null,
  visit: Visit | null,
): Finding {
  const broken = unit ? brokenUnit(unit) : null;
  if (broken) return broken;
  const stopped = unit?.kind === 'stopped' || unit?.kind === 'starting';
  const seconds =
    model?.ageMs === null || model?.ageMs === undefined
      ? 'never'
      : `${round(model.ageMs / 1000)} s ago`;
  if (age === 'stale') {
    const cause = stopped
      ? 'process_down'
      : model?.ageMs === null
        ? 'never_polled'
        : staleCause(visit);
    return {
      status: 'fail',
      signal: 'node_agent_heartbeat_stale',
      cause,
      blames: 'unit:agent',
      summary: `last poll ${seconds}; ${unit?.summary ?? 'unit not seen'}`,
    };
  }
  if (stopped && unit)
    return {
      status: 'warn',
      cause: 'process_down',
      summary: `${unit.summary}; last poll ${seconds}, not stale yet`,
      inconclusive: 'the unit does not run and is not stale yet',
    };
  if (age === null)
    return {
      status: 'unknown',
      summary: `the API did not tell the last poll; ${unit?.summary ?? 'unit not seen'}`,
    };
  if (age === 'late')
    return {
      status: 'unknown',
      summary: `last poll ${seconds}: older than two beats, not stale yet; ${unit?.summary ?? 'unit not seen'}`,
    };
  return { status: 'pass', summary: `last poll ${seconds}${unit ? `; ${unit.summary}` : ''}` };
}

export const nodeHeartbeat: HopDeclaration<Session> = {
  id: 'node_heartbeat',
  title: 'The agent runs and polled recently',
  section: 'node-agent heartbeat freshness',
  vantage: 'control_plane',
  after: [],
  explainedBy: ['node_readiness', 'node_runtime_api_reachability', 'node_recovery_status'],
  signals: ['node_agent_heartbeat_stale', 'node_agent_process_down', 'node_agent_binary_invalid'],
  deadlineMs: (policies) =>
    (Math.max(visitSeconds(policies), publicSeconds) + secondLookSeconds) * 1000 + 500,
  skip: (request) =>
    text(request, 'api-base') !== undefined && hasOperator(request)
      ? null
      : 'no operator token for the API',
  run: async (session) => {
    const [answer, visit, policies] = await Promise.all([
      session.node(),
      text(session.request, 'node-host') === undefined ? null : session.visit(),
      session.policies(),
    ]);
    const model = readModel(answer);
    const unit = visit?.sections ? unitState(visit, policies) : null;
    const finding = judge(model ? freshness(model, policies) : null, model, unit, visit);
    const late = finding.cause === 'no_recent_poll' || finding.cause === 'task_poll_failed';
    const found = late ? await charged(session, finding, ['api']) : finding;
    return withWord(session, 'node_heartbeat', {
      ...found,
      target: text(session.request, 'agent-unit') ?? 'gpuaas-node-agent.service',
      steps: answer.steps,
      evidence: [
        evidence(
          'heartbeat',
          'api',
          model
            ? { age_ms: model.ageMs, stale: model.stale, agent_status: model.agentStatus }
            : tell(answer),
        ),
        ...(visit?.sections?.unit ? [evidence('unit', 'node', visit.sections.unit)] : []),
        ...(visit?.sections?.process ? [evidence('process', 'node', visit.sections.process)] : []),
      ],
    });
  },
};
