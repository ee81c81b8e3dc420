/** How long something takes, as a person writes it: `500ms`, `90s`, `2m`, `1h`, `30d`. */
const units = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;
export type DurationUnit = keyof typeof units;

/** Milliseconds, or null of what is no number with one of these units. */
export function parseDuration(
  text: string,
  allowed: readonly DurationUnit[] = Object.keys(units) as DurationUnit[],
): number | null {
  const [, number, unit] = /^(\d+(?:\.\d+)?)(ms|s|m|h|d)$/.exec(text) ?? [];
  const known = allowed.find((one) => one === unit);
  return known === undefined ? null : Number(number) * units[known];
}

export function durationMs(text: string): number {
  const ms = parseDuration(text);
  if (ms === null) throw new Error(`not a duration: ${text}`);
  return ms;
}
