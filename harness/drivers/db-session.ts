// A session at a platform's database, and a call of it that has a deadline and a readable failure.
import { readFileSync } from 'node:fs';
import postgres from 'postgres';
import { messageOf } from '../base/message-of.ts';
import { measure } from '../base/spans.ts';
import { DriverError, withDeadline } from './errors.ts';

export interface DatabaseTarget {
  readonly host: string;
  readonly port: number;
  readonly name: string;
  readonly user: string;
  readonly passwordFile: string;
}

/** One session, kept open while nothing is asked: a temporary slot lives as long as it does. */
export function connect(target: DatabaseTarget, applicationName: string, onclose?: () => void) {
  return postgres({
    host: target.host,
    port: target.port,
    database: target.name,
    username: target.user,
    password: readFileSync(target.passwordFile, 'utf8').trim(),
    max: 1,
    connect_timeout: 5,
    max_lifetime: null,
    keep_alive: 5,
    connection: { application_name: applicationName },
    onnotice: () => {},
    ...(onclose && { onclose }),
  });
}

/** A call with a deadline, measured, whose failure says what was asked of the database. */
export const call = <T>(what: string, work: () => Promise<T>, ms = 8000): Promise<T> =>
  measure('driver', `database ${what}`, () =>
    withDeadline('database', what, ms, work()).catch((error: unknown) =>
      Promise.reject(wrap(what, error)),
    ),
  );

function wrap(what: string, error: unknown): DriverError {
  if (error instanceof DriverError) return error;
  const code = (error as { code?: string }).code ?? '';
  const unreachable = /^(ECONN|CONNECT|ENOTFOUND|ETIMEDOUT|57P)/.test(code);
  return new DriverError(
    'database',
    unreachable ? 'unreachable' : code === '28P01' ? 'auth' : 'failed',
    `${what}: ${messageOf(error)}`,
    { cause: error },
  );
}
