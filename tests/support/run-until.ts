// One run in which something happens at an exact moment: run-until.ts <stack> <scenario> <out>
// <moment> kill|fill. Ends as `hopdrill run` would; prints where the run folder is.
import { closeSync, openSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { select } from '../../harness/cli/select.ts';
import { runOn } from '../../harness/run.ts';
import { loadProfile } from '../../harness/stack/state.ts';
import { openEngine } from '../../harness/undo/engine.ts';
import { die } from './die.ts';

const [stack, pattern, out, moment, what] = process.argv.slice(2) as string[];

/** To the last byte, until the system itself refuses more. */
function fill(): void {
  const handle = openSync(join(out!, 'fills-the-disk'), 'a');
  try {
    for (let size = 64 * 1024; size >= 1; size = Math.floor(size / 2))
      for (;;)
        try {
          writeSync(handle, Buffer.alloc(size));
        } catch (error) {
          if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error;
          break;
        }
  } finally {
    closeSync(handle);
  }
}

const happens = (now: string): void => {
  if (now !== moment) return;
  if (what === 'kill') die();
  else fill();
};

const [scenario] = await select({ patterns: [pattern!] });
const record = await runOn(scenario!, {
  profile: loadProfile(stack!),
  events(event) {
    if (event.event === 'run') process.stdout.write(`${event.dir}\n`);
    if (event.event === 'stage') happens(`${event.stage} ${event.status}`);
  },
  options: {
    out: out!,
    async openEngine(options) {
      const engine = await openEngine(options);
      const close = async (): ReturnType<typeof engine.close> => {
        happens('faults closing');
        const end = await engine.close();
        happens('faults closed');
        return end;
      };
      return Object.assign(Object.create(engine) as typeof engine, { close });
    },
  },
});
process.stdout.write(`${record.verdict}\n`);
process.exit();
