import { z } from 'zod';
import { request } from '../../../drivers/http.ts';
import { defineView } from '../../view.ts';
import { endpointOf } from '../deployment.ts';
import { cookieOf, tokenOf, transportOf } from '../platform.ts';

/** Enough of an answer to tell what it is. */
const shown = 500;

const wanted = z.strictObject({
  at: z.enum(['api', 'terminal', 'console']),
  path: z.string().regex(/^\//),
  as: z.enum(['operator', 'user']).optional().describe('with this token; with none when left out'),
  cookie: z.boolean().default(false).describe('with the login cookie of the edge'),
});

/** The code that the platform gives in its error, where the answer is one of its own. */
function codeIn(body: string): string | null {
  const answer = z.looseObject({ error: z.looseObject({ code: z.string() }) });
  try {
    return answer.parse(JSON.parse(body)).error.code;
  } catch {
    return null;
  }
}

export const http = defineView({
  title: 'what a public address answers',
  params: wanted,
  fields: z.object({ status: z.number(), code: z.string().nullable(), body: z.string() }),
  async read({ profile }, { at, path, as, cookie }) {
    const { status, body } = await request({
      url: `${endpointOf(profile, at)}${path}`,
      headers: {
        ...(as !== undefined && { authorization: `Bearer ${tokenOf(profile, as)}` }),
        ...(cookie && { cookie: cookieOf(profile) }),
      },
      ...transportOf(profile),
      timeoutMs: 5000,
    });
    return { status, code: codeIn(body), body: body.slice(0, shown) };
  },
});

const maybe = z.string().nullable();

/** `read` fails while no preflight was judged: nothing was said yet. */
export const report = defineView({
  title: 'what the judged preflight said',
  fields: z.object({
    result: z.string(),
    hop: maybe,
    signal: maybe,
    cause: maybe,
    confidence: maybe,
    user_state: maybe,
    correlation_id: z.string(),
  }),
  read({ report: said }) {
    if (said === undefined) throw new Error('no preflight was judged');
    const { result, hop, signal, cause, confidence, user_state, correlation_id } = said;
    return Promise.resolve({ result, hop, signal, cause, confidence, user_state, correlation_id });
  },
});
