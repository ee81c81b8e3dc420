import { createHash } from 'node:crypto';
import {
  closeSync,
  fsyncSync,
  mkdirSync,
  openSync,
  renameSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { type Redact, redactValue } from '../records/redact.ts';
import type { Attachment } from '../records/run-record.ts';

/**
 * The folder of one run, written as the run happens: whatever kills us, what was known by then is
 * on the disk and readable. Every byte of text passes the redactor here and nowhere else.
 */
export interface RunFolder {
  readonly dir: string;
  readonly redact: Redact;
  /** Whole files appear at once or not at all; a picture is taken as it is. */
  write(name: string, content: string | Uint8Array): Attachment;
  json(name: string, value: unknown): Attachment;
  /** One line, on the disk before this returns. */
  append(name: string, line: unknown): void;
}

export function openRunFolder(root: string, name: string, redact: Redact): RunFolder {
  const dir = uniqueDir(resolve(root), name);
  const path = (file: string): string => {
    const full = join(dir, file);
    mkdirSync(dirname(full), { recursive: true });
    return full;
  };
  const write = (file: string, content: string | Uint8Array): Attachment => {
    const bytes = Buffer.from(typeof content === 'string' ? redact(content) : content);
    const full = path(file);
    writeFileSync(`${full}.part`, bytes);
    renameSync(`${full}.part`, full);
    const sha256 = createHash('sha256').update(bytes).digest('hex');
    return { path: file, bytes: bytes.length, sha256 };
  };
  return {
    dir,
    redact,
    write,
    json: (file, value) => write(file, `${JSON.stringify(redactValue(redact, value), null, 2)}\n`),
    append(file, line) {
      const handle = openSync(path(file), 'a');
      try {
        writeSync(handle, `${redact(JSON.stringify(redactValue(redact, line)))}\n`);
        fsyncSync(handle);
      } finally {
        closeSync(handle);
      }
    },
  };
}

function uniqueDir(root: string, name: string): string {
  for (let attempt = 0; ; attempt += 1) {
    const dir = join(root, attempt === 0 ? name : `${name}.${attempt}`);
    mkdirSync(root, { recursive: true });
    try {
      mkdirSync(dir);
      return dir;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    }
  }
}

/** `2025-11-18T19-54-03-123`: sorts by time, and is a file name everywhere. */
export function stampOf(date: Date): string {
  return date.toISOString().replace(/[:.]/g, '-').replace(/Z$/, '');
}

/** `reports/out/latest` for people; nothing reads it. */
export function pointLatest(root: string, dir: string): void {
  const link = join(root, 'latest');
  try {
    unlinkSync(link);
  } catch {
    // There was none.
  }
  try {
    symlinkSync(dir, link);
  } catch {
    // Another run was quicker.
  }
}
