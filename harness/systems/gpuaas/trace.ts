import { declared } from '../../base/spans.ts';
import { until } from '../../base/until.ts';
import { openDocker } from '../../drivers/docker.ts';
import type { HookContext } from '../hooks.ts';
import { api } from './platform.ts';

/**
 * Where operators would look a user's correlation id up: the audit, and the logs of the parts that
 * act on it. The edge logs whatever it is sent.
 */
const parts = ['gateway', 'api'] as const;

/** A line is in the log a moment after the answer that it is about. */
const patience = { everyMs: 200, withinMs: 2000 };

/** The places that know the id. A place that does not answer does not know it. */
export async function placesOf(context: HookContext, correlationId: string): Promise<string[]> {
  const look = (): Promise<string[]> => lookAround(context, correlationId);
  const isSomewhere = (places: readonly string[]): boolean => places.length > 0;
  return (await until(look, isSomewhere, declared('correlation', patience))).answer;
}

async function lookAround(context: HookContext, correlationId: string): Promise<string[]> {
  const asked = [
    inAudit(context, correlationId),
    ...parts.map((part) => inLog(context, part, correlationId)),
  ];
  return (await Promise.all(asked.map((place) => place.catch(() => null)))).filter(
    (place) => place !== null,
  );
}

async function inAudit(context: HookContext, id: string): Promise<string | null> {
  const { rows } = await api<{ rows: readonly unknown[] }>(
    context,
    'GET',
    `/v1/audit?correlation_id=${encodeURIComponent(id)}`,
  );
  return rows.length > 0 ? 'audit' : null;
}

async function inLog(
  { profile, since }: HookContext,
  part: string,
  id: string,
): Promise<string | null> {
  const container = profile.parts[part]?.container;
  if (container === undefined) return null;
  const log = await openDocker().logsSince(container, new Date(since));
  return log.includes(id) ? `log of ${part}` : null;
}
