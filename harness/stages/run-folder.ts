import {
  closeSync,
  cpSync,
  existsSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { type Redact, redactValue } from '../records/redact.ts';

/**
 * The folder of one run, written as the run happens: whatever kills us, what was known by then is
 * on the disk and readable. Every byte passes the redactor here and nowhere else.
 */
export interface RunFolder {
  readonly dir: string;
  readonly redact: Redact;
  /** Whole files appear at once or not at all. */
  write(name: string, text: string): void;
  json(name: string, value: unknown): void;
  /** One line, on the disk before this returns. */
  append(name: string, line: unknown): void;
  /** A copy of a file that somebody else wrote, redacted. */
  copy(from: string, name: string): void;
  /** A picture or another binary file; the caller answers for what it shows. */
  copyBinary(from: string, name: string): void;
}

export function openRunFolder(root: string, name: string, redact: Redact): RunFolder {
  const dir = uniqueDir(resolve(root), name);
  const path = (file: string): string => {
    const full = join(dir, file);
    mkdirSync(dirname(full), { recursive: true });
    return full;
  };
  const write = (file: string, text: string): void => {
    const full = path(file);
    writeFileSync(`${full}.part`, redact(text));
    renameSync(`${full}.part`, full);
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
    copy(from, file) {
      if (existsSync(from)) write(file, readFileSync(from, 'utf8'));
    },
    copyBinary(from, file) {
      if (existsSync(from)) cpSync(from, path(file));
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
