// Credentials come from a file or from the environment, never from argv, and are read when they are
// first needed.
import { readFile } from 'node:fs/promises';
import type { Request } from '../../../preflight/types.ts';
import { edgeCookieOf } from '../cookie.ts';
import { text } from '../flags.ts';
import { once } from './lazy.ts';

const credential = (request: Request, flag: string, variable: string) =>
  once(async () => {
    const file = text(request, flag);
    return file === undefined ? process.env[variable] : (await readFile(file, 'utf8')).trim();
  });

const has = (request: Request, flag: string, variable: string): boolean =>
  text(request, flag) !== undefined || process.env[variable] !== undefined;

export const hasOperator = (request: Request): boolean =>
  has(request, 'operator-token-file', 'HOPDRILL_OPERATOR_TOKEN');
export const hasUser = (request: Request): boolean =>
  has(request, 'user-token-file', 'HOPDRILL_USER_TOKEN');

/** What a terminal of one's own needs and was not given; null when it can be opened. */
export function lacksForTerminal(request: Request): string | null {
  if (text(request, 'allocation-id') === undefined) return 'no --allocation-id';
  if (text(request, 'terminal-base') === undefined) return 'no --terminal-base';
  return hasUser(request) ? null : 'no user token';
}

export interface Credentials {
  readonly operator: () => Promise<string | undefined>;
  readonly user: () => Promise<string | undefined>;
  /** `name=value`, as a browser would send it. */
  readonly cookie: () => Promise<string | undefined>;
}

export function credentialsOf(request: Request): Credentials {
  const bare = credential(request, 'edge-cookie-file', 'HOPDRILL_EDGE_COOKIE');
  return {
    operator: credential(request, 'operator-token-file', 'HOPDRILL_OPERATOR_TOKEN'),
    user: credential(request, 'user-token-file', 'HOPDRILL_USER_TOKEN'),
    cookie: once(async () => {
      const value = await bare();
      return value === undefined ? undefined : edgeCookieOf(value);
    }),
  };
}
