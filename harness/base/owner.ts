// Who holds something, and whether that is still the same process: a pid alone may have been given
// to another one since.
import { readFileSync } from 'node:fs';

export interface Owner {
  readonly pid: number;
  readonly start_time: string;
  readonly boot_id: string;
}

/** Checked by hand: the watchdog, which is to be small, reads one without any package. */
export function asOwner(value: unknown): Owner {
  const { pid, start_time, boot_id } = value as Partial<Owner>;
  if (!Number.isInteger(pid) || typeof start_time !== 'string' || typeof boot_id !== 'string')
    throw new Error('this names no process');
  return { pid: pid!, start_time, boot_id };
}

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

export function isAlive(holder: Owner): boolean {
  if (holder.boot_id !== bootId()) return false;
  try {
    process.kill(holder.pid, 0);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EPERM') return false;
  }
  const state = readOr(`/proc/${holder.pid}/stat`, '');
  // A killed process that nobody waited for still has an entry.
  if (/\) [ZX] /.test(state)) return false;
  return holder.start_time === '' || startTimeOf(holder.pid) === holder.start_time;
}
