// The causal rule: which of the failing hops is the one that failed, and which only
// show it. Pure.
import type { HopRule } from './types.ts';

export interface Judged extends HopRule {
  readonly status: 'pass' | 'fail' | 'warn' | 'unknown' | 'skipped' | 'not_run';
  readonly blames?: string | undefined;
  readonly inconclusive?: string | undefined;
  /** The earlier hop that this one found to blame. */
  readonly charges?: string | undefined;
  /** Why somebody might see a failure of this hop otherwise. */
  readonly doubts?: readonly string[] | undefined;
}

export interface Attribution {
  readonly result: 'healthy' | 'failed' | 'inconclusive';
  readonly failed: string | null;
  readonly alsoFailing: readonly string[];
  /** Failing hop to the hop that explains it. */
  readonly explainedBy: ReadonlyMap<string, string>;
  /** Roots that are not certain, each with why: what could explain them did not answer, or contradicts. */
  readonly lowConfidence: ReadonlyMap<string, readonly string[]>;
  readonly inconclusiveBecause: readonly string[];
}

type Hops = ReadonlyMap<string, Judged>;

/** The nearest failing explainer, through unknown hops but never through one that passes. */
function failingExplainer(hop: Judged, hops: Hops, seen: ReadonlySet<string>): string | null {
  let throughUnknown: string | null = null;
  for (const explainer of hop.explainedBy) {
    const id = typeof explainer === 'string' ? explainer : explainer.hop;
    const parent = hops.get(id);
    if (!parent || seen.has(id)) continue;
    if (typeof explainer !== 'string' && parent.blames !== explainer.whenBlames) continue;
    if (parent.status === 'fail') return id;
    if (parent.status === 'unknown')
      throughUnknown ??= failingExplainer(parent, hops, new Set([...seen, id]));
  }
  return throughUnknown;
}

const chargedHop = ({ charges = '', order }: Judged, hops: Hops): string | null => {
  const to = hops.get(charges);
  return to?.status === 'fail' && to.order < order ? to.id : null;
};

/**
 * An earlier hop that blames the same resource. A side hop never counts, or two hops could explain
 * each other.
 */
function sharedResource(hop: Judged, failing: readonly Judged[]): string | null {
  if (hop.blames === undefined || hop.side) return null;
  return (
    failing.find((other) => !other.side && other.order < hop.order && other.blames === hop.blames)
      ?.id ?? null
  );
}

const notAsked: Readonly<Partial<Record<Judged['status'], string>>> = {
  unknown: 'gave no answer',
  skipped: 'was not asked',
  not_run: 'was not asked',
};

/**
 * High is earned: whatever could explain a failure was asked and answered. What an unknown hop would
 * blame is unknown too, so a narrowed relation counts here as well.
 */
function unanswered(hop: Judged, hops: Hops): string[] {
  return hop.explainedBy.flatMap((explainer) => {
    const id = typeof explainer === 'string' ? explainer : explainer.hop;
    const word = notAsked[hops.get(id)?.status ?? 'pass'];
    return word === undefined ? [] : [`${id} could explain it and ${word}`];
  });
}

export function attribute(judged: readonly Judged[]): Attribution {
  const inOrder = [...judged].sort((a, b) => a.order - b.order);
  const hops: Hops = new Map(inOrder.map((hop) => [hop.id, hop]));
  const failing = inOrder.filter((hop) => hop.status === 'fail');
  const explainedBy = new Map<string, string>();
  for (const hop of failing) {
    const by =
      chargedHop(hop, hops) ??
      failingExplainer(hop, hops, new Set([hop.id])) ??
      sharedResource(hop, failing);
    if (by !== null) explainedBy.set(hop.id, by);
  }
  const roots = failing.filter((hop) => !explainedBy.has(hop.id));
  const lowConfidence = new Map(
    roots
      .map((hop) => [hop.id, [...unanswered(hop, hops), ...(hop.doubts ?? [])]] as const)
      .filter(([, doubts]) => doubts.length > 0),
  );
  const failed = roots.find((hop) => !hop.side) ?? roots[0] ?? null;
  const inconclusiveBecause = failed ? [] : doubts(inOrder);
  return {
    result: failed ? 'failed' : inconclusiveBecause.length > 0 ? 'inconclusive' : 'healthy',
    failed: failed?.id ?? null,
    alsoFailing: roots
      .filter((hop) => hop !== failed && unanswered(hop, hops).length === 0)
      .map((hop) => hop.id),
    explainedBy,
    lowConfidence,
    inconclusiveBecause,
  };
}

function doubts(hops: readonly Judged[]): string[] {
  return hops.flatMap((hop) => {
    if (hop.inconclusive !== undefined) return [`${hop.id}: ${hop.inconclusive}`];
    return hop.status === 'unknown' ? [`${hop.id}: unknown`] : [];
  });
}
