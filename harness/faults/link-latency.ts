import { z } from 'zod';
import type { Action } from '../records/action.ts';
import { defineFault } from './define.ts';
import { toxicName } from './kit.ts';
import { linkParam } from './link-cut.ts';

export const linkLatency = defineFault({
  name: 'link.latency',
  title: 'A link is slow',
  why: 'Late is not lost: what gives up too early, or waits for ever, shows here.',
  params: z.strictObject({
    link: linkParam,
    ms: z.number().int().min(1).max(600_000).describe('delay of each answer, in milliseconds'),
    jitter: z
      .number()
      .int()
      .min(0)
      .max(60_000)
      .default(0)
      .describe('up to this much more or less, in milliseconds'),
    stream: z
      .enum(['upstream', 'downstream'])
      .default('downstream')
      .describe('downstream: answers are late; upstream: requests are'),
  }),
  targetKind: 'link',
  targetParam: 'link',
  undoKind: 'toxic',
  plan: ({ ms, jitter, stream }, link) => {
    const digest: Action = { kind: 'toxiproxy', proxy: link, verb: 'read' };
    const toxic = {
      name: toxicName,
      type: 'latency',
      stream,
      toxicity: 1,
      attributes: { latency: ms, jitter },
    };
    return {
      summary: `the link ${link} is ${ms} ms late (${stream})`,
      cuts: [],
      // The digest is all of the proxy: nothing else has to be kept.
      snapshot: [],
      inject: [{ kind: 'toxiproxy', proxy: link, verb: 'add-toxic', toxic }],
      undo: [{ kind: 'toxiproxy', proxy: link, verb: 'remove-toxic', toxicName }],
      active: { kind: 'toxiproxy', proxy: link, verb: 'read', toxicName, expect: 'toxic' },
      digest,
      reaches: 'connections that are open are late as well',
    };
  },
});
