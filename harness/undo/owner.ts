// Tells whether the process that owns something is still the same process.
import { readFileSync } from 'node:fs';
import type { Owner } from '../records/ledger.ts';

function readOr(file: string, otherwise: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return otherwise;
  }
}

export const bootId = (): string => readOr('/proc/sys/kernel/random/boot_id', 'unknown').trim();

/** Field 22 of stat; the program's name before it may hold spaces and brackets. */
export function startTimeOf(pid: number): string {
  const stat = readOr(`/proc/${pid}/stat`, '');
  return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19] ?? '';
}

export const self = (): Owner => ({
  pid: process.pid,
  start_time: startTimeOf(process.pid),
  boot_id: bootId(),
});

export function isAlive(owner: Owner): boolean {
  if (owner.boot_id !== bootId()) return false;
  try {
    process.kill(owner.pid, 0);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EPERM') return false;
  }
  const state = readOr(`/proc/${owner.pid}/stat`, '');
  // A killed process that nobody waited for still has an entry.
  if (/\) [ZX] /.test(state)) return false;
  return owner.start_time === '' || startTimeOf(owner.pid) === owner.start_time;
}
