import type { Policies } from '../../preflight/types.ts';

/** What a deployment is taken to do when it does not tell its policies: the seeds' defaults. */
export const seedDefaults: Policies = {
  'node.heartbeat_stale_after_seconds': 120,
  'node.poll_window_seconds': 30,
  'node.task_lease_seconds': 90,
  'node.retry_backoff_max_seconds': 30,
  'node.rate_limited_poll_seconds': 120,
  'terminal.node_stream_timeout_seconds': 15,
  'terminal.pty_ready_timeout_seconds': 10,
  'node.disk_pressure_percent': 90,
};

const value = (policies: Policies, name: string): number =>
  policies[name] ?? seedDefaults[name] ?? 0;

/** The few policy values that deadlines and budgets are made of; seconds. */
export const stale = (policies: Policies): number =>
  value(policies, 'node.heartbeat_stale_after_seconds');
export const beat = (policies: Policies): number => value(policies, 'node.poll_window_seconds');
export const backoff = (policies: Policies): number =>
  value(policies, 'node.retry_backoff_max_seconds');
export const rateLimitedPoll = (policies: Policies): number =>
  value(policies, 'node.rate_limited_poll_seconds');
export const stream = (policies: Policies): number =>
  value(policies, 'terminal.node_stream_timeout_seconds');
export const pty = (policies: Policies): number =>
  value(policies, 'terminal.pty_ready_timeout_seconds');
export const pressure = (policies: Policies): number =>
  value(policies, 'node.disk_pressure_percent');

/** Seed 001, "Terminal node stream never connects": P1, detected in less than 30 s. */
export const terminalBudgetSeconds = 30;

/** How long one dial from the node to the API may take, answer included. */
export const dialSeconds = 3;
/** A new SSH connection, login and sentinel. */
export const sshSeconds = 3;
/** A second look at slow ways: two seconds for a handshake, the rest for a busy machine. */
export const secondLookSeconds = 4;
/** One request to the public side. */
export const publicSeconds = 3;
/** Restart of a crashed unit is waited for this long, to tell a loop from one crash. */
export const loopSeconds = 1.5;

/**
 * Both deadlines of the gateway, one after the other: by then it has said ready or an explicit
 * error.
 */
export const terminalSeconds = (policies: Policies): number => stream(policies) + pty(policies);

/** A beat of two windows has passed: the agent polled after now, if it polls at all. */
export const claimSeconds = (policies: Policies): number => 2 * beat(policies) + 1;
export const resultSeconds = (policies: Policies): number => backoff(policies) + 1;
/**
 * Twice the node-stream timeout: slower than that is not slow but broken. The login before it and
 * the report after it share its budget.
 */
export const terminalDialSeconds = (policies: Policies): number =>
  Math.min(2 * stream(policies), terminalBudgetSeconds - sshSeconds - 5);
/** From the upgrade until the gateway must have said ready or an explicit error. */
export const sessionSeconds = (policies: Policies): number => terminalSeconds(policies) + 2;
export const visitSeconds = (policies: Policies): number =>
  sshSeconds + Math.max(terminalDialSeconds(policies), dialSeconds + loopSeconds) + 1;
