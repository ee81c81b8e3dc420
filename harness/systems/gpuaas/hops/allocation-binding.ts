import type { HopDeclaration } from '../../../preflight/types.ts';
import { text } from '../flags.ts';
import { publicSeconds } from '../policies.ts';
import { at, evidence, fromApi, granted, str, tell } from '../probe/http.ts';
import { hasOperator, hasUser, type Session } from '../probe/session.ts';

export const allocationBinding: HopDeclaration<Session> = {
  id: 'allocation_binding',
  title: 'The allocation is active and bound to the expected node',
  section: 'allocation binding and state',
  vantage: 'control_plane',
  after: [],
  explainedBy: [],
  signals: ['allocation_not_active', 'allocation_wrong_node'],
  deadlineMs: () => publicSeconds * 1000 + 500,
  skip: (request) =>
    text(request, 'allocation-id') === undefined
      ? 'no --allocation-id'
      : hasOperator(request) || hasUser(request)
        ? null
        : 'no token for the API',
  run: async (session) => {
    const answer = await session.allocation();
    const target = text(session.request, 'allocation-id') ?? null;
    const base = { target, steps: answer.steps };
    if (!fromApi(answer))
      return { ...base, status: 'unknown', summary: `the API did not say: ${tell(answer)}` };
    if (answer.status === 404)
      return {
        ...base,
        status: 'fail',
        signal: 'allocation_not_active',
        cause: 'not_found',
        blames: 'allocation',
        summary: 'the API knows no such allocation',
      };
    if (!granted(answer))
      return { ...base, status: 'unknown', summary: `the API does not tell: ${tell(answer)}` };
    const state = str(at(answer.json, 'state'));
    const bound = str(at(answer.json, 'node_id'));
    const facts = {
      ...base,
      evidence: [
        evidence('allocation', 'api', {
          state,
          node_id: bound,
          username: at(answer.json, 'username'),
        }),
      ],
    };
    if (state !== 'active')
      return {
        ...facts,
        status: 'fail',
        signal: 'allocation_not_active',
        cause: state === 'released' ? 'released' : 'not_active',
        blames: 'allocation',
        summary: `state is ${state}`,
      };
    const expected = text(session.request, 'node-id');
    if (expected !== undefined && bound !== expected)
      return {
        ...facts,
        status: 'fail',
        signal: 'allocation_wrong_node',
        cause: 'other_node',
        blames: 'allocation',
        summary: `bound to ${bound}, not to ${expected}`,
      };
    return { ...facts, status: 'pass', summary: `active, bound to ${bound}` };
  },
};
