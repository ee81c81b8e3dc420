// What a run reads of the platform besides the preflight.
export { evidence } from './evidence.ts';
export { invariants } from './invariants.ts';
export { proofs } from './proofs.ts';
export { timeline } from './timeline.ts';
export { views } from './views/index.ts';
