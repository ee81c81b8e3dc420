/**
 * A lease that a file carries: valid while the runner renews it. Uptime decides inside one boot, so
 * that a clock which somebody turns can neither end it early nor keep it for ever; after a reboot
 * the wall clock decides. Written in place and always the same length, so that renewing needs no
 * free space.
 */
import { closeSync, openSync, readFileSync, writeSync } from 'node:fs';
import { uptime } from 'node:os';
import { bootId } from '../base/owner.ts';

export interface LeaseWriter {
  renew(seconds: number): void;
  close(): void;
}

export function openLease(file: string): LeaseWriter {
  const fd = openSync(file, 'w', 0o600);
  const boot = bootId();
  return {
    renew(seconds) {
      writeSync(fd, formatLease(boot, uptime() + seconds, Date.now() / 1000 + seconds), 0);
    },
    close: () => closeSync(fd),
  };
}

export const formatLease = (boot: string, up: number, wall: number): string =>
  `${boot} ${up.toFixed(3).padStart(16, '0')} ${wall.toFixed(3).padStart(16, '0')}\n`;

/** Seconds left; negative when it is over. A lease that cannot be read is over. */
export function secondsLeft(
  text: string,
  now = { boot: bootId(), up: uptime(), wall: Date.now() / 1000 },
): number {
  const [boot, up, wall] = text.trim().split(' ');
  if (boot === undefined || up === undefined || wall === undefined) return -1;
  const left = boot === now.boot ? Number(up) - now.up : Number(wall) - now.wall;
  return Number.isFinite(left) ? left : -1;
}

export function readLease(file: string): number {
  try {
    return secondsLeft(readFileSync(file, 'utf8'));
  } catch {
    return -1;
  }
}
