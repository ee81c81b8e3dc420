import type { Budgets } from '../define.ts';
import { beat, sessionSeconds, stale } from './policies.ts';

export const budgets: Budgets = {
  // The default operational budgets of the runbook, which knows no P3.
  severity: { P0: 60, P1: 300, P2: 1800, P3: 1800 },
  effect: (policies) => 15 + 2 * beat(policies),
  // Slow platforms have slow steps: a runner may be late by as much.
  lease: (policies) => Math.max(10, 2 * beat(policies)),
  // The platform needs its stale window to see that a node is back.
  settle: (policies) => 20 + 2 * stale(policies),
  // The state changes when the heartbeat is stale, which the sweep may notice one beat later.
  userState: (policies) => stale(policies) + 2 * beat(policies) + 5,
  // A terminal error waits for no heartbeat: the gateway's own deadlines, and the way.
  userAccess: (policies) => sessionSeconds(policies) + 5,
};
