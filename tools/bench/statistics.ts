// Medians of interleaved measurements: whatever slows the machine down meets all that is compared,
// so ratios keep their meaning.
export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  const [low, high] = [sorted[middle - 1] ?? Number.NaN, sorted[middle] ?? Number.NaN];
  return sorted.length % 2 === 1 ? high : (low + high) / 2;
}

export const round = (value: number, digits = 1): number => Number(value.toFixed(digits));

export async function timed(work: () => Promise<unknown>): Promise<number> {
  const began = performance.now();
  await work();
  return performance.now() - began;
}

/**
 * Each of the works once a round, in turn; the first place moves on every round. Gives milliseconds
 * by name.
 */
export async function interleave<K extends string>(
  rounds: number,
  works: Readonly<Record<K, () => Promise<unknown>>>,
): Promise<Record<K, number[]>> {
  const names = Object.keys(works) as K[];
  const times = Object.fromEntries(names.map((name) => [name, []])) as unknown as Record<
    K,
    number[]
  >;
  for (let turn = 0; turn < rounds; turn += 1) {
    for (let place = 0; place < names.length; place += 1) {
      const name = names[(turn + place) % names.length]!;
      times[name].push(await timed(works[name]));
    }
  }
  return times;
}
