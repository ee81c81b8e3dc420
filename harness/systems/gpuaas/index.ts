import { defineSystem } from '../define.ts';
import { evidence } from './evidence.ts';
import { history, invariants } from './invariants.ts';
import { names, words } from './names.ts';
import { gpuaasPreflight } from './preflight.ts';
import { optionalHops } from './profile-argv.ts';
import { proofs } from './proofs.ts';
import { repairs } from './repairs.ts';
import { timeline } from './timeline.ts';
import { userAccessWithin, userView, userViewWithin } from './user-view.ts';

/** Everything that hopdrill knows about the platform of the seeds. */
export const gpuaas = defineSystem({
  ...gpuaasPreflight,
  names,
  words,
  optionalHops,
  repairs,
  proofs,
  invariants,
  evidence,
  userView,
  userViewWithin,
  userAccessWithin,
  history,
  timeline,
});
