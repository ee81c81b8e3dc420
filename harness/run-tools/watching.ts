import type { GuardBroken } from './guards.ts';
import type { Watch } from './must-nots.ts';
import type { WriteAudit } from './write-audit.ts';

/** Who looks at the platform from before the fault until the end. */
export interface Watching {
  /** Undefined when the profile names no database to watch. */
  readonly writes: WriteAudit | undefined;
  readonly mustNots: Watch;
  /** The guard of the profile that broke, if one did. */
  brokenGuard(): GuardBroken | null;
}
