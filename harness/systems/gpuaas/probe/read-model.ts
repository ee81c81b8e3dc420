// The platform's own view of the node, as far as hops judge by it.
import type { Policies } from '../../../preflight/types.ts';
import { beat, stale } from '../policies.ts';
import { type Answer, at, granted, list, num, str } from './http.ts';

export interface ReadModel {
  readonly agentStatus: string | null;
  readonly heartbeatAt: number | null;
  readonly ageMs: number | null;
  readonly stale: boolean;
  readonly reason: string | null;
  readonly userState: string | null;
  readonly evidence: readonly {
    source: string | null;
    reason: string | null;
    code: string | null;
    detail: string | null;
    at: string | null;
  }[];
  readonly lastPolls: readonly { at: string | null; ended: string | null }[];
  readonly declaredApi: string | null;
  readonly declaredTerminal: string | null;
  readonly profileName: string | null;
}

export function readModel(answer: Answer): ReadModel | null {
  if (!granted(answer)) return null;
  const node = answer.json;
  const heartbeat = at(node, 'heartbeat');
  const beatAt = str(at(heartbeat, 'at'));
  return {
    agentStatus: str(at(node, 'agent_status')),
    heartbeatAt: beatAt === null ? null : Date.parse(beatAt),
    ageMs: num(at(heartbeat, 'age_ms')),
    stale: at(heartbeat, 'stale') === true,
    reason: str(at(node, 'recovery', 'reason')),
    userState: str(at(node, 'recovery', 'user_state')),
    evidence: list(at(node, 'recovery', 'evidence')).map((one) => ({
      source: str(at(one, 'source')),
      reason: str(at(one, 'reason')),
      code: str(at(one, 'code')),
      detail: str(at(one, 'detail')),
      at: str(at(one, 'at')),
    })),
    lastPolls: list(at(node, 'last_polls')).map((one) => ({
      at: str(at(one, 'at')),
      ended: str(at(one, 'ended')),
    })),
    declaredApi: str(at(node, 'profile', 'api_url')),
    declaredTerminal: str(at(node, 'profile', 'terminal_url')),
    profileName: str(at(node, 'profile', 'name')),
  };
}

export type Freshness = 'current' | 'late' | 'stale';

/** Younger than two beats; older but inside the policy; past the policy or never. */
export function freshness(model: ReadModel, policies: Policies): Freshness {
  if (model.stale || model.ageMs === null) return 'stale';
  if (model.ageMs <= 2 * beat(policies) * 1000) return 'current';
  return model.ageMs > stale(policies) * 1000 ? 'stale' : 'late';
}
