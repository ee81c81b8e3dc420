// What systemd says of the agent's unit, in the words that the heartbeat hop judges by.
import type { Policies } from '../../../preflight/types.ts';
import { stale } from '../policies.ts';
import type { Facts, Visit } from './visit.ts';

export type UnitState =
  | { readonly kind: 'running' | 'stopped' | 'starting'; readonly summary: string }
  | {
      readonly kind: 'failed' | 'not_executable';
      readonly cause: string;
      readonly summary: string;
    };

/** 203 is systemd's own "cannot execute"; 126 and 127 are a shell's. */
const notExecutable = new Set(['203', '126', '127']);

export function unitState(visit: Visit, policies: Policies): UnitState {
  const unit = visit.sections?.unit ?? {};
  const again = visit.sections?.again;
  const summary = `unit ${unit.ActiveState}/${unit.SubState}${unit.UnitFileState === 'masked' || unit.LoadState === 'masked' ? ' (masked)' : ''}, ${unit.NRestarts ?? '?'} restarts`;
  const running = isRunning(unit);
  if (unreadable(visit, 'key'))
    return {
      kind: 'failed',
      cause: 'key_unreadable',
      summary: `${summary}; the agent cannot read its key`,
    };
  if (unreadable(visit, 'cert'))
    return {
      kind: 'failed',
      cause: 'cert_unreadable',
      summary: `${summary}; the agent cannot read its certificate`,
    };
  const ended = [unit, again ?? {}].find(isNotExecutable)?.ExecMainStatus;
  if (ended !== undefined)
    return {
      kind: 'not_executable',
      cause: ended === '127' ? 'binary_missing' : 'exec_format',
      summary: `${summary}, exit ${ended}`,
    };
  if (!running && visit.sections?.env?.file_missing !== undefined)
    return {
      kind: 'failed',
      cause: 'env_unreadable',
      summary: `${summary}; ${visit.sections.env.file_missing} cannot be read`,
    };
  if (unit.ActiveState === 'failed')
    return { kind: 'failed', cause: 'unit_failed', summary: `${summary}, result ${unit.Result}` };
  if (again && loops(unit, again, policies))
    return {
      kind: 'failed',
      cause: 'restart_loop',
      summary: `${summary}, then ${again.ActiveState}/${again.SubState}, ${again.NRestarts}`,
    };
  if (unit.SubState === 'auto-restart' || unit.ActiveState === 'activating')
    return { kind: 'starting', summary };
  return { kind: running ? 'running' : 'stopped', summary };
}

const isRunning = (unit: Facts): boolean =>
  unit.ActiveState === 'active' && unit.SubState === 'running';
const isNotExecutable = (unit: Facts): boolean =>
  !isRunning(unit) &&
  notExecutable.has(unit.ExecMainStatus ?? '') &&
  unit.ActiveState !== 'inactive';

const unreadable = (visit: Visit, what: 'key' | 'cert'): boolean =>
  ['EACCES', 'EPERM'].includes(visit.sections?.files?.[what] ?? '');

/**
 * Two restarts inside one stale window, or between two starts at both readings. One crash is no
 * loop.
 */
function loops(unit: Facts, again: Facts, policies: Policies): boolean {
  const more = Number(again.NRestarts ?? 0) - Number(unit.NRestarts ?? 0);
  if (unit.SubState === 'auto-restart' && again.SubState === 'auto-restart') return true;
  const young = Number(unit.up_s ?? Number.POSITIVE_INFINITY) < stale(policies);
  return more >= 2 || (more >= 1 && Number(unit.NRestarts ?? 0) >= 1 && young);
}
