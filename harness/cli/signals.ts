import { type EndingSignal, endingSignals, exitOfSignal } from '../records/exit-codes.ts';

/**
 * The one place of the command line that hears signals. The process listens from its start to its
 * end: a signal ends a command that does not listen, and changes nothing for one that has ended.
 * What was said ("the stack is up") and the exit code would contradict each other otherwise.
 */
type Listener = (name: EndingSignal) => void;
const listeners = new Set<Listener>();
let listening = false;
let ended = false;

export function listenToSignals(): void {
  if (listening) return;
  listening = true;
  for (const name of endingSignals)
    process.on(name, () => {
      if (ended) return;
      if (listeners.size === 0) process.exit(exitOfSignal[name]);
      for (const listener of [...listeners]) listener(name);
    });
}

/** The returned function ends the listening; whoever called goes on with listeners of its own. */
export function onSignal(listener: Listener): () => void {
  listenToSignals();
  listeners.add(listener);
  return () => void listeners.delete(listener);
}

/** The outcome of the process stands. */
export function ignoreSignals(): void {
  ended = true;
  // A process that runs out of work closes its signal handlers first, and a signal then kills it.
  process.once('beforeExit', () => process.exit());
}
