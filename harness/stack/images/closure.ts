// Which npm packages an image needs, read from the lock file: the same answer on every
// machine, also on one whose own packages are for another operating system.
import { createHash } from 'node:crypto';

interface LockEntry {
  version?: string;
  integrity?: string;
  dependencies?: Record<string, string>;
  optionalDependencies?: Record<string, string>;
  os?: string[];
  cpu?: string[];
}
export interface LockFile {
  packages: Record<string, LockEntry>;
}

/** Beside the packages: it makes the copied sources ES modules. */
export const runtimeManifest = `${JSON.stringify({ private: true, type: 'module' })}\n`;

/** Node's own lookup: the nearest node_modules above the package that asks. */
function resolveIn(lock: LockFile, from: string, name: string): string | null {
  for (let folder = from; ; ) {
    const path = folder === '' ? `node_modules/${name}` : `${folder}/node_modules/${name}`;
    if (lock.packages[path] !== undefined) return path;
    if (folder === '') return null;
    const cut = folder.lastIndexOf('/node_modules/');
    folder = cut === -1 ? '' : folder.slice(0, cut);
  }
}

const fits = (entry: LockEntry, cpu: string) =>
  (entry.os === undefined || entry.os.includes('linux')) &&
  (entry.cpu === undefined || entry.cpu.includes(cpu));

/** Lock paths of the roots and everything they need on Linux with this processor, sorted. */
export function closure(lock: LockFile, roots: readonly string[], cpu: string): string[] {
  const found = new Set<string>();
  const visit = (from: string, name: string, optional: boolean) => {
    const path = resolveIn(lock, from, name);
    const entry = path === null ? undefined : lock.packages[path];
    if (path === null || entry === undefined) {
      if (optional) return;
      throw new Error(`package-lock.json has no ${name}, which ${from || 'the image'} needs`);
    }
    if (optional && !fits(entry, cpu)) return;
    if (found.has(path)) return;
    found.add(path);
    for (const next of Object.keys(entry.dependencies ?? {})) visit(path, next, false);
    for (const next of Object.keys(entry.optionalDependencies ?? {})) visit(path, next, true);
  };
  for (const root of roots) visit('', root, false);
  return [...found].sort();
}

/** Node itself, as the package that carries its binary. */
export const nodePackage = (cpu: string) => `node_modules/node-linux-${cpu}`;

/** Changes whenever a package of the runtime does; integrity pins the content. */
export function runtimeFingerprint(lock: LockFile, roots: readonly string[], cpu: string): string {
  const lines = [...closure(lock, roots, cpu), nodePackage(cpu)].map((path) => {
    const entry = lock.packages[path];
    return `${path} ${entry?.version ?? '?'} ${entry?.integrity ?? ''}`;
  });
  return createHash('sha256').update(lines.join('\n')).update(runtimeManifest).digest('hex');
}
