// The agent's own word. A probe imitates the agent; the agent is the agent: what the running process
// wrote down after its last contact, and not long ago, decides where its trouble belongs, even where
// a probe from outside succeeds.
import type { Finding, Policies } from '../../../preflight/types.ts';
import { backoff, beat, rateLimitedPoll } from '../policies.ts';
import { silence } from './dial.ts';
import { evidence, round } from './http.ts';
import { freshness, type ReadModel } from './read-model.ts';
import { currentReason, type LocalRecord, localRecord } from './record.ts';
import type { Session } from './session.ts';
import type { Visit } from './visit.ts';
import { noSecondLook } from './ways.ts';
import { type Meaning, meaningOf } from './word-table.ts';

export interface Word extends Meaning {
  /** In the words of the record. */
  readonly said: string;
  readonly record: unknown;
  /** Why it does not decide by itself. */
  readonly doubt: string | null;
}

/** How long one attempt of the agent may take before it writes down that it failed. */
const attemptSeconds = 8;
/** With nobody to tell the last contact, trouble has to have come again. */
const often = 2;

export function wordOf(visit: Visit, model: ReadModel | null, policies: Policies): Word | null {
  const record = localRecord(visit);
  if (record === null || !isOfRunningProcess(record, visit)) return null;
  const reason = currentReason(record);
  if (reason === null || !isAboutUsedEndpoint(record, visit)) return null;
  const age = ageOf(visit);
  if (age === null || !outlivesContact(record, age, model, policies)) return null;
  const meaning = meaningOf({ reason, phase: record.phase, code: record.code }, agentOffset(visit));
  if (meaning === null) return null;
  const wait = reason === 'edge_rate_limited' ? rateLimitedPoll(policies) : backoff(policies);
  const young = age <= (wait + beat(policies) + attemptSeconds) * 1000;
  return {
    ...meaning,
    said: `${reason} (${record.phase} ${record.code}) at ${record.target}`,
    record: record.current,
    doubt: young ? null : `the record of the agent is ${round(age / 1000)} s old`,
  };
}

const isOfRunningProcess = (record: LocalRecord, visit: Visit): boolean => {
  const { unit } = visit.sections ?? {};
  return unit?.SubState === 'running' && record.pid === Number(unit.MainPID);
};

/** By the kernel's clock on both sides, whatever time the agent believes it is. */
function ageOf(visit: Visit): number | null {
  const { clock, record } = visit.sections ?? {};
  const age = Number(clock?.epoch_ms) - Number(record?.written_ms);
  return Number.isFinite(age) ? Math.max(0, age) : null;
}

/** The clock of the agent against the one of its node, by what it wrote and when. */
export function agentOffset(visit: Visit): number | null {
  const offset = visit.sections?.clock?.agent_offset_ms;
  return offset === undefined ? null : Number(offset);
}

/** A file path is the node's own; an address has to be one that the process uses. */
function isAboutUsedEndpoint({ target }: LocalRecord, visit: Visit): boolean {
  if (target === null || !URL.canParse(target)) return true;
  const { env } = visit.sections ?? {};
  const used = [env?.GPUAAS_API_URL, env?.GPUAAS_RECOVERY_API_URL];
  return used.some((url) => URL.canParse(url ?? '') && new URL(url!).host === new URL(target).host);
}

/** An agent that polls has no trouble, whatever it once wrote; one lost poll is none either. */
function outlivesContact(
  record: LocalRecord,
  age: number,
  model: ReadModel | null,
  policies: Policies,
): boolean {
  if (model === null) return (record.count ?? 0) >= often;
  if (freshness(model, policies) === 'current') return false;
  return model.ageMs === null || model.ageMs >= age - 1000;
}

/** A hop that its probe did not find broken, and of which the agent says that it is. */
export async function withWord(session: Session, hop: string, found: Finding): Promise<Finding> {
  if (found.status === 'fail') return found;
  const word = await session.word();
  if (word === null || word.hop !== hop) return found;
  const { signal, blames, said, doubt } = word;
  const looked = silence.has(word.cause);
  const ways = looked ? await session.secondLook() : null;
  const wayToApi = ways?.find(({ name }) => name === 'api');
  const unanswered = looked && ways === null ? noSecondLook : null;
  const doubts = [doubt, unanswered].filter((one) => one !== null);
  return {
    ...found,
    status: 'fail',
    ...{ signal, blames, cause: wayToApi?.cause ?? word.cause },
    summary: `the agent itself says ${said}`,
    ruledOut: [
      ...(found.ruledOut ?? []),
      { what: 'asked from outside of the agent', because: found.summary },
    ],
    evidence: [
      ...(found.evidence ?? []),
      evidence('agent_record', 'node', word.record),
      ...(ways === null ? [] : [evidence('second_look', 'node', ways)]),
    ],
    ...(doubts.length > 0 && { doubts }),
  };
}
