import { z } from 'zod';

export const verdicts = ['pass', 'fail', 'inconclusive', 'dirty', 'aborted'] as const;
export type Verdict = (typeof verdicts)[number];

/**
 * `dirty` outranks all; then what ended the run, then what is known to be wrong, then what is not
 * known.
 */
export const byWeight: readonly Verdict[] = ['pass', 'inconclusive', 'fail', 'aborted', 'dirty'];

export function worst(list: readonly Verdict[]): Verdict {
  return list.reduce<Verdict>(
    (a, b) => (byWeight.indexOf(b) > byWeight.indexOf(a) ? b : a),
    'pass',
  );
}

/** Why a run did not pass: the field that differs, what was expected, what was seen. */
export const reason = z.strictObject({
  field: z.string(),
  expected: z.string(),
  observed: z.string(),
  /** `file:line:column` of the expectation in the scenario file, when it has one. */
  at: z.string().optional(),
});
export type Reason = z.infer<typeof reason>;

export const verdictRecord = z.strictObject({
  verdict: z.enum(verdicts),
  reasons: z.array(reason),
});

export const reasonWords = ({ field, expected, observed }: Reason): string =>
  `${field}: expected ${expected}, observed ${observed}`;
