// What the engine and this machine hold of stacks.
import { readdirSync, readFileSync } from 'node:fs';
import { execa } from 'execa';
import { devicesOf, disksIn } from '../../../harness/stack/loops.ts';
import { stackLabel } from '../../../harness/stack/names.ts';

const lines = (text: string) => text.split('\n').filter((line) => line !== '');

/**
 * Everything of a stack by its compose project's name, so that a missing label would be noticed
 * too.
 */
export async function held(stack: string): Promise<string[]> {
  const kinds = [
    ['container', 'ls', '-a', '--format', '{{.Names}}'],
    ['network', 'ls', '--format', '{{.Name}}'],
    ['volume', 'ls', '--format', '{{.Name}}'],
  ];
  const texts = await Promise.all(
    kinds.map(async (words) => (await execa('docker', words)).stdout),
  );
  return texts
    .flatMap(lines)
    .filter(
      (name) => name.startsWith(`hopdrill-${stack}-`) || name.startsWith(`hopdrill-${stack}_`),
    );
}

/** What the engine keeps between stacks. */
export const images = async (): Promise<string[]> =>
  lines(
    (await execa('docker', ['image', 'ls', '--format', '{{.ID}} {{.Repository}}'])).stdout,
  ).sort();

/**
 * The inodes of the nodes' disks and which loop devices carry them: to be asked before and after
 * `down`.
 */
export const disksOf = (stack: string) =>
  disksIn([`hopdrill-${stack}_root-node-1`, `hopdrill-${stack}_root-node-2`]);

/**
 * Loop devices that carry the disk of a node and belong to no volume that is there: what an
 * accident leaves.
 */
export async function strayLoops(): Promise<string[]> {
  const { stdout } = await execa('losetup', [
    '-l',
    '-n',
    '-O',
    'NAME,BACK-INO,BACK-MAJ:MIN,BACK-FILE',
  ]);
  const volumes = lines(
    (await execa('docker', ['volume', 'ls', '-q', '--filter', `label=${stackLabel}`])).stdout,
  );
  const known = new Set(devicesOf(await disksIn(volumes), stdout));
  return lines(stdout).filter(
    (line) => line.includes('/disk.img') && !known.has(line.split(' ', 1)[0]!),
  );
}

/**
 * Processes of this machine, those in containers of its engine among them, whose command line names
 * one of these.
 */
export function processesNaming(...words: readonly string[]): string[] {
  return readdirSync('/proc').flatMap((pid) => {
    try {
      const line = readFileSync(`/proc/${Number(pid)}/cmdline`, 'utf8')
        .replaceAll('\0', ' ')
        .trim();
      return words.some((word) => line.includes(word)) ? [`${pid}: ${line}`] : [];
    } catch {
      // No process, or one that is gone already.
      return [];
    }
  });
}
