import { z } from 'zod';
import { defineFault } from '../../../faults/define.ts';
import { http, on } from '../../../faults/kit.ts';

export const nodeFence = defineFault({
  name: 'node.fence',
  title: 'The platform fences the node off',
  why: 'A node that operators quarantined is refused although its certificate is right; nobody may take that for a broken certificate.',
  params: z.strictObject({ on }),
  targetKind: 'node',
  targetParam: 'on',
  undoKind: 'api',
  conflicts: {
    'http.refuse': 'it would refuse the request that takes the node back',
    'container.stop': 'nobody would answer the request that takes the node back',
    'edge.route-remove': 'the request that takes the node back would reach nobody',
  },
  plan: (_params, node) => {
    const as = { endpoint: 'api', credential: 'operator' };
    const path = `/v1/nodes/${node}`;
    const read = http('GET', path, { ...as, print: 'lifecycle' });
    return {
      summary: `the platform has ${node} in quarantine`,
      cuts: [],
      snapshot: [{ name: 'lifecycle', do: { ...read, expect: 'active' } }],
      inject: [http('POST', `${path}/quarantine`, as)],
      undo: [http('POST', `${path}/restore`, as)],
      active: { ...read, expect: 'quarantined' },
      digest: read,
      reaches: 'the next request of the node is refused',
    };
  },
});
