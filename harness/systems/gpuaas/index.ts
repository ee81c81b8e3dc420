import { defineSystem } from '../define.ts';
import { ask } from './ask.ts';

/** The platform of the seeds: nodes with an agent, and terminals in a browser. */
export default defineSystem({
  name: 'gpuaas',
  ask,
  deployment: () => import('./deployment-schema.ts'),
  see: () => import('./see.ts'),
  act: () => import('./act.ts'),
  break: () => import('./faults/index.ts'),
  stack: new URL('../../../docker-compose.chaos.yml', import.meta.url),
});
