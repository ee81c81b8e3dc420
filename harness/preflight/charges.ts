// A hop may learn that an earlier one is to blame although that one's own probe passed: it was late
// because the way to it is slow. What it learned is given to the earlier hop before causes are
// looked for.
import type { Finding } from './types.ts';
import type { Walked } from './walk.ts';

export function settleCharges(walked: readonly Walked[]): Walked[] {
  const order = new Map(walked.map(({ hop }) => [hop.id, hop.order]));
  const charged = new Map<string, Finding>();
  for (const { hop, finding } of walked) {
    const charge = finding?.charges;
    const isEarlier = (order.get(charge?.hop ?? '') ?? hop.order) < hop.order;
    if (charge !== undefined && isEarlier && !charged.has(charge.hop))
      charged.set(charge.hop, charge.finding);
  }
  return walked.map((one) => {
    const learned = charged.get(one.hop.id);
    const own = one.finding;
    if (learned === undefined || own === null || own.status === 'fail') return one;
    const besides = { what: 'its own probe', because: own.summary };
    return {
      ...one,
      finding: {
        ...own,
        ...learned,
        evidence: [...(own.evidence ?? []), ...(learned.evidence ?? [])],
        ruledOut: [...(own.ruledOut ?? []), besides],
      },
    };
  });
}
