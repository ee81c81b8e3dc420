// What stays of a ledger after its run: a copy in the run folder, and the latest few under the
// state directory.
import {
  cpSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';

export function copyLedger(file: string, runDir: string, redact?: (text: string) => string): void {
  mkdirSync(runDir, { recursive: true });
  const to = join(runDir, 'ledger.jsonl');
  if (redact === undefined) cpSync(file, to);
  else writeFileSync(to, redact(readFileSync(file, 'utf8')));
}

const anHour = 3_600_000;

/**
 * Only ledgers of runs that ended well go: the others are what `hopdrill undo` works from. By age
 * and not by name, and none that is younger than an hour: another runner on this machine may have
 * closed its ledger a moment ago and still be copying it.
 */
export function prune(dir: string, keep = 40): void {
  const runs = readdirSync(dir)
    .flatMap((run) => {
      const file = join(dir, run, 'ledger.jsonl');
      const found = statSync(file, { throwIfNoEntry: false });
      return found === undefined ? [] : [{ run, file, at: found.mtimeMs }];
    })
    .sort((a, b) => b.at - a.at);
  for (const { run, file, at } of runs.slice(keep)) {
    if (Date.now() - at < anHour) continue;
    try {
      if (readFileSync(file, 'utf8').includes('"type":"closed"'))
        rmSync(join(dir, run), { recursive: true, force: true });
    } catch {
      // Somebody else removed it first.
    }
  }
}
