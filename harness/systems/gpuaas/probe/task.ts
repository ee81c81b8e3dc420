import { at, num, str } from './http.ts';

export interface Task {
  readonly id: string | null;
  readonly status: string;
  readonly error: string | null;
  readonly createdAt: number | null;
  readonly dispatchedAt: number | null;
  readonly claims: number;
}

const time = (value: unknown): number | null => {
  const text = str(value);
  return text === null ? null : Date.parse(text);
};

/** A task as the API tells it, or null when there is none. */
export function taskOf(json: unknown): Task | null {
  const status = str(at(json, 'status'));
  if (status === null) return null;
  const error = at(json, 'error');
  return {
    id: str(at(json, 'task_id')),
    status,
    error: str(error) ?? str(at(error, 'code')),
    createdAt: time(at(json, 'created_at')),
    dispatchedAt: time(at(json, 'dispatched_at')),
    claims: num(at(json, 'claims')) ?? 0,
  };
}
