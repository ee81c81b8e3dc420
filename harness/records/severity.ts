/** How bad it is; each has a time within which trouble must be named. */
export const severities = ['P0', 'P1', 'P2', 'P3'] as const;
export type Severity = (typeof severities)[number];
