// The agent's own diagnostic record, and what of it still counts.
import { at, list, num, str } from './http.ts';
import type { Visit } from './visit.ts';

export interface LocalRecord {
  readonly raw: unknown;
  /** The entry that says how things stand. */
  readonly current: unknown;
  /** Of the process that wrote it. */
  readonly pid: number | null;
  readonly phase: string | null;
  readonly target: string | null;
  readonly count: number | null;
  readonly reason: string | null;
  readonly code: string | null;
  readonly detail: string | null;
  readonly at: string | null;
  readonly lastSuccessAt: string | null;
  readonly pollEnded: string | null;
  readonly pollMs: number | null;
}

export function localRecord(visit: Visit): LocalRecord | null {
  const text = visit.sections?.record?.json;
  if (text === undefined) return null;
  let raw: unknown;
  try {
    raw = JSON.parse(text);
  } catch {
    return null;
  }
  const current = at(raw, 'current');
  return {
    raw,
    current,
    pid: num(at(raw, 'pid')),
    phase: str(at(current, 'phase')),
    target: str(at(current, 'target')),
    count: num(at(current, 'count')),
    reason: str(at(current, 'reason')),
    code: str(at(current, 'code')),
    detail: str(at(current, 'detail')),
    at: str(at(current, 'at')),
    lastSuccessAt: str(at(raw, 'last_success_at')),
    pollEnded: str(at(raw, 'last_poll', 'ended')),
    pollMs: num(at(raw, 'last_poll', 'duration_ms')),
  };
}

/** The reason that the record gives now: one that is older than the last success is history. */
export function currentReason(record: LocalRecord | null): string | null {
  if (!record?.reason || record.reason === 'process_alive') return null;
  if (
    record.at !== null &&
    record.lastSuccessAt !== null &&
    Date.parse(record.at) < Date.parse(record.lastSuccessAt)
  )
    return null;
  return record.reason;
}

/**
 * The agent does not answer a task that it refuses: an answer would tell a forger what is missing.
 * Only its own record says it, so that is read again after the task was handed out.
 */
export async function refusedTask(
  visit: Visit | null,
  taskId: string | null,
): Promise<'signature' | 'expiry' | null> {
  const text = taskId === null ? null : ((await visit?.readRecord()) ?? null);
  if (text === null) return null;
  const entry = history(text).find(
    (one) =>
      at(one, 'reason') === 'task_signature_rejected' && at(one, 'target') === `task ${taskId}`,
  );
  if (entry === undefined) return null;
  return /expir/i.test(str(at(entry, 'code')) ?? '') ? 'expiry' : 'signature';
}

function history(text: string): readonly unknown[] {
  try {
    return list(at(JSON.parse(text), 'history'));
  } catch {
    return [];
  }
}
