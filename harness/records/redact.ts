/**
 * The one point that every byte passes before it is written into a run folder or printed.
 * Known secrets (from the profile's credential files) are replaced by name, others by their shape.
 */
export type Redact = (text: string) => string;

/** How a secret looks, whatever its value. */
export interface SecretForm {
  readonly name: string;
  readonly pattern: RegExp;
  readonly replace: string | ((found: string) => string);
}

/**
 * How a secret is called where it is stored or handed over; prefixes (`access_token`,
 * `clientSecret`) need no entry, and `has_token` is none.
 */
const named = '(?<!has_)(?:password|passwd|passphrase|secret|token|api[_-]?key|private[_-]?key)';
const notYet = '(?!\\[redacted|null\\b|true\\b|false\\b)';

const usualForms: readonly SecretForm[] = [
  {
    name: 'private key',
    pattern: /-----BEGIN ([A-Z ]*)PRIVATE KEY-----[\s\S]*?-----END \1PRIVATE KEY-----/g,
    replace: '[redacted private key]',
  },
  {
    name: 'cut private key',
    pattern: /-----BEGIN [A-Z ]*PRIVATE KEY-----[^"']*/g,
    replace: '[redacted private key]',
  },
  {
    // As Kubernetes and cloud-init carry it; a certificate in the same dress is public and stays.
    name: 'private key in base64',
    pattern: /LS0tLS1CRUdJTi(?:[A-Za-z0-9+/]|\\?\r?(?:\n|\\n)(?=[A-Za-z0-9+/=]{4}))+={0,2}/g,
    replace: (found) =>
      /PRIVATE KEY-/.test(Buffer.from(found.replace(/\\r|\\n/g, ''), 'base64').toString('latin1'))
        ? '[redacted private key]'
        : found,
  },
  { name: 'bearer', pattern: /\b(bearer\s+)[A-Za-z0-9._~+/=-]{8,}/gi, replace: '$1[redacted]' },
  {
    name: 'authorization header',
    pattern:
      /\b(authorization\\*["']?\s*[:=]\s*\\*["']?(?:[A-Za-z-]+ +)?)(?!\[redacted)[^\s"'\\]{4,}/gi,
    replace: '$1[redacted]',
  },
  {
    // A password may hold `@`, `:` and `/`, so it ends at the last `@`; digits before a slash are a
    // port and no password.
    name: 'url password',
    pattern: /\b([a-z][a-z0-9+.-]*:\/\/[^\s:/@"']*):(?!\d+(?:[/?#]|$))(?!\[redacted)[^\s"'\\]+@/gi,
    replace: '$1:[redacted]@',
  },
  {
    name: 'cookie',
    pattern: /\b((?:set-)?cookie\\*["']?\s*[:=]\s*\\*["']?)(?!\[redacted)[^\r\n"'\\]+/gi,
    replace: '$1[redacted]',
  },
  {
    name: 'signed token',
    pattern: /\beyJ[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}(?:\.[A-Za-z0-9_-]+)?/g,
    replace: '[redacted token]',
  },
  {
    name: 'named secret in quotes',
    pattern: new RegExp(
      `((?:${named})\\\\*["']?\\s*[:=]\\s*)(?:"${notYet}(?:\\\\.|[^"\\\\\\r\\n])+"|'${notYet}[^'\\r\\n]+')`,
      'gi',
    ),
    replace: (found) => found.replace(/(["'])(?:\\.|(?!\1).)+\1$/, '$1[redacted]$1'),
  },
  {
    name: 'named secret in quotes inside a string',
    pattern: new RegExp(
      `((?:${named})\\\\*["']?\\s*[:=]\\s*\\\\+["'])${notYet}(?:(?!\\\\+["'])[^\\r\\n"])+`,
      'gi',
    ),
    replace: '$1[redacted]',
  },
  {
    name: 'named number',
    pattern: new RegExp(`((?:${named})"\\s*:\\s*)\\d{4,}`, 'gi'),
    replace: '$1"[redacted]"',
  },
  {
    name: 'named secret',
    pattern: new RegExp(`((?:${named})\\s*=\\s*)${notYet}[^\\s"'&\\\\]{4,}`, 'gi'),
    replace: '$1[redacted]',
  },
  {
    // After a colon stand words as well ("token: expired"); a password may be as short as a word, a
    // token is not.
    name: 'named secret after a colon',
    pattern: new RegExp(
      `((?:password|passwd|passphrase|api[_-]?key)\\s*:\\s*)${notYet}[^\\s"'\\\\]{4,}`,
      'gi',
    ),
    replace: '$1[redacted]',
  },
  {
    name: 'named token after a colon',
    pattern: new RegExp(`((?:${named})\\s*:\\s*)${notYet}[^\\s"'\\\\]{16,}`, 'gi'),
    replace: '$1[redacted]',
  },
  {
    name: 'flag',
    pattern: new RegExp(
      `(--(?:[a-z0-9]+-)*(?:${named}|cookie)(?:=|\\s+|\\\\*["'],\\s*\\\\*["'])\\\\*["']?)${notYet}(?!-)[^\\s"'\\\\]{4,}`,
      'gi',
    ),
    replace: '$1[redacted]',
  },
];

/**
 * Short values would blot out ordinary words; a secret of fewer than 8 characters is refused by
 * `up` anyhow.
 */
const shortest = 8;

export function createRedactor(
  secrets: readonly string[],
  ownForms: readonly SecretForm[] = [],
): Redact {
  const forms = [...usualForms, ...ownForms];
  const known = [...new Set(secrets.flatMap(spellings))]
    .filter((secret) => secret.length >= shortest)
    .sort((a, b) => b.length - a.length);
  const redact: Redact = (text) => {
    let clean = text;
    for (const secret of known) clean = clean.split(secret).join('[redacted]');
    for (const { pattern, replace } of forms)
      clean =
        typeof replace === 'string'
          ? clean.replace(pattern, replace)
          : clean.replace(pattern, replace);
    return clean;
  };
  return remembering(redact);
}

/**
 * The names of fields and other short words come again and again; two dozen patterns need not be
 * tried on each every time.
 */
function remembering(redact: Redact): Redact {
  const words = new Map<string, string>();
  return (text) => {
    if (text.length > 40) return redact(text);
    const known = words.get(text);
    if (known !== undefined) return known;
    const clean = redact(text);
    if (words.size < 500) words.set(text, clean);
    return clean;
  };
}

const secretKey = new RegExp(`(?:${named})$`, 'i');

/**
 * Every string of a record, so that what was JSON stays JSON; what stands under the name of a
 * secret goes as a whole.
 */
export function redactValue<T>(redact: Redact, value: T): T {
  const within = (inner: unknown, key: string): unknown => {
    if (typeof inner === 'string')
      return secretKey.test(key) && inner.length >= 4 ? '[redacted]' : redact(inner);
    if (Array.isArray(inner)) return inner.map((one) => within(one, key));
    if (typeof inner !== 'object' || inner === null) return inner;
    return Object.fromEntries(
      Object.entries(inner).map(([name, one]) => [redact(name), within(one, name)]),
    );
  };
  return within(value, '') as T;
}

/** A secret also travels URL-encoded, in base64, and inside JSON strings. */
function spellings(secret: string): string[] {
  const trimmed = secret.trim();
  if (trimmed === '') return [];
  const forms = [
    trimmed,
    encodeURIComponent(trimmed),
    ...base64Of(trimmed),
    JSON.stringify(trimmed).slice(1, -1),
  ];
  if (trimmed.includes('\n'))
    forms.push(
      ...trimmed.split('\n').filter((line) => line.length >= 24 && !line.startsWith('-----')),
    );
  return forms;
}

/** Behind something else (`user:password`) the same bytes look different, in one of three ways. */
function base64Of(secret: string): string[] {
  const whole = Buffer.from(secret);
  const shifted = [0, 1, 2].map((ahead) => {
    const text = Buffer.concat([Buffer.alloc(ahead), whole])
      .toString('base64')
      .replace(/=+$/, '');
    const rest = (ahead + whole.length) % 3;
    return text.slice(ahead === 0 ? 0 : ahead + 1, rest === 0 ? undefined : -1);
  });
  return [whole.toString('base64'), whole.toString('base64url'), ...shifted];
}
