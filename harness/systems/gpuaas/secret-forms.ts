import type { SecretForm } from '../../records/redact.ts';

export const secretForms: readonly SecretForm[] = [
  {
    name: 'login cookie of the edge',
    pattern: /\b([a-z]+_edge=)[^;\s"']+/gi,
    replace: '$1[redacted]',
  },
  {
    name: 'terminal token in a subprotocol',
    pattern: /\btoken\.[A-Za-z0-9_-]{8,}(?:\.[A-Za-z0-9_-]+)*/g,
    replace: 'token.[redacted]',
  },
];
