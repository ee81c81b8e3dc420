// Who holds something, and whether that is still the same process: a pid alone may have been given
// to another one since.
import { readFileSync } from 'node:fs';
import { z } from 'zod';

export const owner = z.object({
  pid: z.number().int(),
  start_time: z.string(),
  boot_id: z.string(),
});
export type Owner = z.infer<typeof owner>;

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
