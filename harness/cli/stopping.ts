import { type EndingSignal, exitOfSignal } from '../records/exit-codes.ts';
import { onSignal } from './signals.ts';

/**
 * What a signal means to `run`: the end of a hold when something is held, else the end of the run,
 * after its undo.
 */
export interface Stopping {
  readonly signal: AbortSignal;
  /** Told to leave: nothing further begins. */
  leaving(): boolean;
  exitCode(): number | undefined;
  /** The fault stays in, with its lease renewed, until somebody has looked and presses Ctrl-C. */
  hold(dir: string): Promise<void>;
  close(): void;
}

export function stopOnSignals(say: (text: string) => void): Stopping {
  const abort = new AbortController();
  const held = new Set<() => void>();
  let told: EndingSignal | undefined;
  const stop = (name: EndingSignal): void => {
    // Ctrl-C is what the hold asked for; whoever closes the terminal or ends the process does not
    // want the rest either.
    if (held.size === 0 || name !== 'SIGINT') told ??= name;
    if (held.size > 0) {
      say(`${name}: the hold is over, going on to the repair (once more interrupts the run)`);
      for (const release of held) release();
      held.clear();
      return;
    }
    if (!abort.signal.aborted) say(`${name}: undoing what is broken, then leaving`);
    abort.abort(name);
  };
  const close = onSignal(stop);
  return {
    signal: abort.signal,
    leaving: () => told !== undefined,
    exitCode: () => (told === undefined ? undefined : exitOfSignal[told]),
    async hold(dir) {
      if (told !== undefined) return;
      const released = new Promise<void>((release) => held.add(release));
      say(`kept as it is (${dir}); Ctrl-C ends the hold`);
      const alive = setInterval(() => {}, 1000);
      await released;
      clearInterval(alive);
    },
    close,
  };
}
