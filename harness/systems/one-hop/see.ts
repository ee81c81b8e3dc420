import { z } from 'zod';
import { request } from '../../drivers/http.ts';
import { coreViews, userParams } from '../core-views.ts';
import type { HookContext, See } from '../hooks.ts';
import { defineView } from '../view.ts';
import { limitMs } from './hops.ts';

/** Nothing that answers is an answer too. */
async function greeting({ profile }: HookContext): Promise<string | null> {
  const url = profile.endpoints.service ?? '';
  const answer = await request({ url, timeoutMs: limitMs }).catch(() => null);
  return answer?.status === 200 ? answer.body.trim() : null;
}

export const views: See['views'] = {
  service: defineView({
    title: 'what the service says',
    fields: z.object({ answers: z.boolean(), greeting: z.string().nullable() }),
    within: () => 5,
    async read(context) {
      const text = await greeting(context);
      return { answers: text !== null, greeting: text };
    },
  }),
  user: defineView({
    title: 'whether a user is greeted',
    params: userParams,
    fields: coreViews.user,
    async read(context) {
      const text = await greeting(context);
      const state = text === 'hello' ? 'greeted' : 'not_greeted';
      const nothing = { access: null, correlation_id: null, after_ms: null, page: null };
      return { ...nothing, state, message: text, found_in: [] };
    },
  }),
};

export const proofs: See['proofs'] = {
  greets: {
    title: 'the service says hello again',
    observe: [{ service: { is: { greeting: 'hello' } } }],
  },
};

export const invariants: See['invariants'] = {
  silent: {
    title: 'the service goes on answering',
    texts: ['stop answering'],
    when: 'always',
    observe: [{ service: { is: { answers: true } } }],
  },
};

export const evidence: See['evidence'] = {
  service: { file: 'service.json', title: 'what the service says', view: { service: {} } },
};
