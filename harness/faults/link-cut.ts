import { z } from 'zod';
import type { Action, ToxiproxyAction } from '../records/action.ts';
import { defineFault } from './define.ts';
import { toxicName } from './kit.ts';

export const linkParam = z
  .string()
  .describe('a link of the profile; `node.` in front stands for the node of the scenario');

const toxics = {
  blackhole: { type: 'timeout', attributes: { timeout: 0 } },
  reset: { type: 'reset_peer', attributes: { timeout: 0 } },
} as const;

function ways(
  proxy: string,
  how: 'refuse' | 'blackhole' | 'reset',
): { inject: ToxiproxyAction; undo: ToxiproxyAction; active: ToxiproxyAction } {
  if (how === 'refuse') {
    return {
      inject: { kind: 'toxiproxy', proxy, verb: 'disable' },
      undo: { kind: 'toxiproxy', proxy, verb: 'enable' },
      active: { kind: 'toxiproxy', proxy, verb: 'read', expect: 'disabled' },
    };
  }
  const toxic = { name: toxicName, stream: 'downstream' as const, toxicity: 1, ...toxics[how] };
  return {
    inject: { kind: 'toxiproxy', proxy, verb: 'add-toxic', toxic },
    undo: { kind: 'toxiproxy', proxy, verb: 'remove-toxic', toxicName },
    active: { kind: 'toxiproxy', proxy, verb: 'read', toxicName, expect: 'toxic' },
  };
}

export const linkCut = defineFault({
  name: 'link.cut',
  title: 'A link between two parts is cut',
  why: 'A part that loses what it depends on must say what it lost, and not fail as if it were broken itself.',
  params: z.strictObject({
    link: linkParam,
    how: z
      .enum(['refuse', 'blackhole', 'reset'])
      .default('refuse')
      .describe('refuse: nobody listens; blackhole: no answer; reset: connections are torn down'),
  }),
  targetKind: 'link',
  targetParam: 'link',
  undoKind: 'toxic',
  conflicts: {
    'link.latency': 'a cut link carries no latency',
  },
  plan: ({ how }, link) => {
    const { inject, undo, active } = ways(link, how);
    const digest: Action = { kind: 'toxiproxy', proxy: link, verb: 'read' };
    return {
      summary: `the link ${link} is cut (${how})`,
      cuts: [`link:${link}`],
      // The digest is all of the proxy: nothing else has to be kept.
      snapshot: [],
      inject: [inject],
      undo: [undo],
      active,
      digest,
      reaches: 'connections that are open end or fall silent as well',
    };
  },
});
