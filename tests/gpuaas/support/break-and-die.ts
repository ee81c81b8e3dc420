// A runner that dies of SIGKILL at a named point: break-and-die.ts <stack> <run> <point> <lease
// seconds> <fault> <params>

import { slotStep } from '../../../harness/run-tools/audit-slot.ts';
import { loadProfile } from '../../../harness/stack/state.ts';
import { openEngine } from '../../../harness/undo/engine.ts';
import { die } from '../../support/die.ts';
import { planned } from './faults.ts';

const [stack, runId, at, lease, fault, params] = process.argv.slice(2);
const profile = loadProfile(stack!);
const engine = await openEngine({
  profile,
  runId: runId!,
  leaseSeconds: Number(lease),
  onPoint: (point) => {
    if (point === at) die();
  },
});
const plan =
  fault === 'audit.slot' ? slotStep(runId!) : planned(fault!, JSON.parse(params!), profile);
await engine.prepare([plan]);
await engine.inject(0);
await engine.undo(0);
await engine.verify(0);
await engine.close();
throw new Error(`never came to ${at}`);
