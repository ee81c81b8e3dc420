// The faults of the platform that the tests break: those that know no system, and its own.
import { markPlacesOf } from '../../../harness/faults/marks.ts';
import { planFault } from '../../../harness/faults/plan-fault.ts';
import type { FaultPlan } from '../../../harness/records/fault.ts';
import type { Profile } from '../../../harness/records/profile.ts';
import gpuaas from '../../../harness/systems/gpuaas/index.ts';

export const { faults } = await gpuaas.whole();

export const markPlaces = markPlacesOf(faults);

export const planned = (
  name: string,
  params: unknown,
  profile: Profile,
  node?: string | null,
): FaultPlan => planFault(faults, { name, params }, profile, node);
