// What somebody needs who writes a system, a view or a fault of their own.
export { defineFault, type FaultDefinition } from './faults/define.ts';
export {
  docker,
  exec,
  fileDigest,
  http,
  on,
  replaceFile,
  restoreFiles,
  savedDir,
  saveFiles,
  sh,
  withStdin,
} from './faults/kit.ts';
export type { Finding, HopDeclaration } from './preflight/types.ts';
export { coreViews, type PageRow, userParams } from './systems/core-views.ts';
export { type Ask, defineSystem } from './systems/define.ts';
export { type HookContext, Refused, type Repair, type See } from './systems/hooks.ts';
export { defineView } from './systems/view.ts';
