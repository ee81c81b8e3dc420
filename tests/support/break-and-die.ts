// A runner that dies of SIGKILL at a named point: break-and-die.ts <stack> <run> <point> <lease
// seconds> <fault> <params>
import { planFault } from '../../harness/faults/index.ts';
import { loadProfile } from '../../harness/stack/state.ts';
import { slotStep } from '../../harness/stages/audit-slot.ts';
import { openEngine } from '../../harness/undo/engine.ts';

const [stack, runId, at, lease, fault, params] = process.argv.slice(2);
const profile = loadProfile(stack!);
const die = (): never => {
  process.kill(process.pid, 'SIGKILL');
  // The signal needs a moment; nothing may happen in it.
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
  throw new Error('still alive');
};
const engine = await openEngine({
  profile,
  runId: runId!,
  leaseSeconds: Number(lease),
  onPoint: (point) => {
    if (point === at) die();
  },
});
const plan =
  fault === 'audit.slot' ? slotStep(runId!) : planFault(fault!, JSON.parse(params!), profile);
await engine.prepare([plan]);
await engine.inject(0);
await engine.undo(0);
await engine.verify(0);
await engine.close();
throw new Error(`never came to ${at}`);
