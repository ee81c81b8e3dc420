// An action of kind `http`: one request with a token of the profile.
import { readFileSync } from 'node:fs';
import { type DriverCode, DriverError } from '../drivers/errors.ts';
import { HttpError, type HttpRequest, type HttpResponse, request } from '../drivers/http.ts';
import type { HttpAction } from '../records/action.ts';
import type { Targets } from '../records/ledger.ts';
import type { Outcome } from './reach-nodes.ts';

const timeoutMs = 10_000;
/** Enough to see what was said instead of the answer that was expected. */
const shown = 300;

export async function runHttp(targets: Targets, action: HttpAction): Promise<Outcome> {
  const answer = await ask(requestOf(targets, action));
  if (!action.okStatus.includes(answer.status))
    return {
      code: answer.status,
      stdout: '',
      stderr: `${action.method} ${action.path} answered ${answer.status}: ${answer.body.slice(0, shown)}`,
    };
  const printed = action.print === undefined ? answer.body : valueIn(answer, action.print);
  const isExpected = action.expect === undefined || action.expect === printed;
  return { code: isExpected ? 0 : 1, stdout: `${printed}\n`, stderr: '' };
}

function requestOf(targets: Targets, { endpoint, credential, method, path, body }: HttpAction) {
  const { address, caFile } = targets.connect;
  const base = named(targets.endpoints, 'endpoint', endpoint).replace(/\/+$/, '');
  const token =
    credential === undefined
      ? undefined
      : readFileSync(named(targets.credentials, 'credential', credential), 'utf8').trim();
  const wanted: HttpRequest = {
    url: `${base}${path}`,
    method,
    timeoutMs,
    headers: {
      accept: 'application/json',
      ...(token !== undefined && { authorization: `Bearer ${token}` }),
      ...(body !== undefined && { 'content-type': 'application/json' }),
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
    ...(address !== undefined && { resolveAddress: address }),
    ...(caFile !== undefined && { ca: readFileSync(caFile, 'utf8') }),
  };
  return wanted;
}

function named(names: Readonly<Record<string, string>>, what: string, name: string): string {
  const value = names[name];
  if (value === undefined)
    throw new DriverError(
      'http',
      'bad_request',
      `the profile names no ${what} ${name} (${Object.keys(names).join(', ') || 'it names none'})`,
    );
  return value;
}

/** Whether the request was acted upon is known only when it was never sent. */
async function ask(wanted: HttpRequest): Promise<HttpResponse> {
  try {
    return await request(wanted);
  } catch (error) {
    if (!(error instanceof HttpError)) throw error;
    const code: DriverCode =
      error.phase !== 'http' ? 'unreachable' : error.code === 'ETIMEDOUT' ? 'timeout' : 'lost';
    throw new DriverError('http', code, `${wanted.method} ${wanted.url}: ${error.message}`, {
      cause: error,
    });
  }
}

function valueIn({ body, status }: HttpResponse, key: string): string {
  try {
    const value = (JSON.parse(body) as Record<string, unknown>)[key];
    if (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean')
      return String(value);
  } catch {
    // Said below.
  }
  const said = `answered ${status} without "${key}": ${body.slice(0, shown)}`;
  throw new DriverError('http', 'failed', said);
}
