import type { Finding } from '../../../preflight/types.ts';
import type { Visit } from './visit.ts';

/** Why nothing can be said from the node, as a finding; null when the probes ran there. */
export function withoutNode(visit: Visit): Finding | null {
  if (!visit.ssh.ok)
    return { status: 'unknown', summary: `not asked from the node: SSH ${visit.ssh.cause}` };
  if (!visit.sections)
    return {
      status: 'unknown',
      summary: `SSH works, the probes did not run there: ${visit.probeError}`,
    };
  return null;
}

/** The effective URL and the one that the profile declares, when they are known and differ. */
export function drift(
  effective: string | undefined,
  declared: string | null | undefined,
): { effective: string; declared: string } | null {
  if (!effective || !declared || same(effective, declared)) return null;
  return { effective, declared };
}

function same(a: string, b: string): boolean {
  if (!URL.canParse(a) || !URL.canParse(b)) return a === b;
  const [one, other] = [new URL(a), new URL(b)];
  return one.protocol === other.protocol && one.host === other.host;
}
