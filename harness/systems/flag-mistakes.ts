import { parseArgv } from '../preflight/argv.ts';
import type { AnySystem } from '../preflight/types.ts';

/**
 * Mistakes in flags that stand beside those of a profile. It gives the addresses, so what only
 * makes sense together is not looked at.
 */
export function flagMistakes(system: AnySystem, argv: readonly string[]): readonly string[] {
  const { checkFlags: _, ...alone } = system;
  const parsed = parseArgv(alone, argv);
  return parsed.ok ? [] : parsed.errors;
}
