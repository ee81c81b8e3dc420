// How a runner dies of SIGKILL at an exact moment.
export function die(): never {
  process.kill(process.pid, 'SIGKILL');
  // The signal needs a moment; nothing may happen in it.
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
  throw new Error('still alive');
}
