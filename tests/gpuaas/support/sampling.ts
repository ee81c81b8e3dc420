// Which cases of a long list run now: all of them with `npm run prove -- --all`, else a sample. The
// seed is printed, and `-- --seed N` draws the same sample again.
import { createHash, randomInt } from 'node:crypto';

export const all = process.env.HOPDRILL_PROVE_ALL === '1';

export const seed = Number(process.env.HOPDRILL_PROVE_SEED ?? randomInt(1_000_000));

/** Numbers from 0 to below 1; the same seed and name give the same ones. */
export function drawing(name: string): () => number {
  let count = 0;
  return () => {
    count += 1;
    const hash = createHash('sha256').update(`${seed} ${name} ${count}`).digest();
    return hash.readUInt32BE() / 2 ** 32;
  };
}

/** `count` of the list in its own order, or the whole list with `--all`. */
export function sample<T>(name: string, list: readonly T[], count: number): readonly T[] {
  if (all || list.length <= count) return list;
  const draw = drawing(name);
  const places = list.map((_, place) => ({ place, by: draw() })).sort((a, b) => a.by - b.by);
  const chosen = new Set(places.slice(0, count).map(({ place }) => place));
  process.stdout.write(`      ${name}: ${count} of ${list.length} by seed ${seed}\n`);
  return list.filter((_, place) => chosen.has(place));
}
