// A machine that has something else to do.
import { spawn } from 'node:child_process';
import { once } from 'node:events';

/** So many processes that only compute, until disposed of. */
export function busyLoops(count: number): AsyncDisposable {
  const loops = Array.from({ length: count }, () =>
    spawn(process.execPath, ['-e', 'for (;;);'], { stdio: 'ignore' }),
  );
  return {
    async [Symbol.asyncDispose]() {
      const gone = loops.map((loop) => once(loop, 'exit'));
      for (const loop of loops) loop.kill('SIGKILL');
      await Promise.all(gone);
    },
  };
}
