// The nodes' disks are loop devices. The kernel frees one with the last mount of it, so there is
// work here only after an accident. A device says no path that means anything outside its node, so
// it is known by the file's device and inode.
import { type BigIntStats, statSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { execa } from 'execa';
import { dockerQuietly } from './docker-cli.ts';

export interface Disk {
  readonly dev: bigint;
  readonly ino: bigint;
}

function statQuietly(file: string): BigIntStats | null {
  try {
    return statSync(file, { bigint: true });
  } catch {
    // Another machine's engine, or no right to look: then its loop devices are not ours to see
    // either.
    return null;
  }
}

/** The disk images in these volumes; to be asked while the volumes are still there. */
export async function disksIn(volumes: readonly string[]): Promise<Disk[]> {
  if (process.platform !== 'linux' || volumes.length === 0) return [];
  const places = await dockerQuietly([
    'volume',
    'inspect',
    '--format',
    '{{.Mountpoint}}',
    ...volumes,
  ]);
  return places
    .split('\n')
    .map((place) => (place === '' ? null : statQuietly(join(place, 'disk.img'))))
    .filter((stat) => stat !== null)
    .map(({ dev, ino }) => ({ dev, ino }));
}

/**
 * Of the lines that losetup prints (name, inode, major:minor), the devices that carry one of the
 * disks.
 */
export function devicesOf(disks: readonly Disk[], listing: string): string[] {
  const keys = new Set(disks.map(({ dev, ino }) => `${ino} ${dev >> 8n}:${dev & 0xffn}`));
  return listing
    .split('\n')
    .map((line) => line.trim().split(/\s+/))
    .filter(([, ino, majorMinor]) => keys.has(`${ino} ${majorMinor}`))
    .map(([name]) => name!);
}

async function devicesNow(disks: readonly Disk[]): Promise<string[]> {
  const { stdout } = await execa('losetup', ['-l', '-n', '-O', 'NAME,BACK-INO,BACK-MAJ:MIN'], {
    reject: false,
    stdin: 'ignore',
  });
  return devicesOf(disks, stdout ?? '');
}

/**
 * Gives back what still carries one of the disks although its containers are gone; says how many
 * that were.
 */
export async function releaseLoops(disks: readonly Disk[]): Promise<number> {
  if (disks.length === 0) return 0;
  let devices = await devicesNow(disks);
  // A node's mounts go a moment after its container.
  for (let tries = 0; devices.length > 0 && tries < 5; tries += 1) {
    await sleep(100);
    devices = await devicesNow(disks);
  }
  for (const device of devices)
    await execa('losetup', ['-d', device], { reject: false, stdin: 'ignore' });
  return devices.length;
}
