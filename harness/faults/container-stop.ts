import { z } from 'zod';
import { defineFault } from './define.ts';
import { docker } from './kit.ts';

export const containerStop = defineFault({
  name: 'container.stop',
  title: 'A part of the platform is down',
  why: 'A part that is gone, or that hangs without a word, must be told apart by those who depend on it.',
  params: z.strictObject({
    part: z.string().describe('the service, as the profile names it'),
    how: z
      .enum(['stop', 'pause', 'kill'])
      .default('stop')
      .describe('pause: it keeps its connections and says nothing'),
  }),
  targetKind: 'part',
  targetParam: 'part',
  undoKind: 'container',
  plan: ({ how }, part, profile) => {
    // A part that the engine would bring back by itself is stopped, not killed and forgotten.
    const broken = how === 'pause' ? 'paused' : 'stopped';
    const url =
      part === profile.links?.part
        ? Object.keys(profile.nodes).map((node) => `link:${node}.*`)
        : [];
    return {
      summary: `${part} is ${how === 'pause' ? 'paused' : 'stopped'}${how === 'kill' ? ' (killed)' : ''}`,
      cuts: [`part:${part}`, ...url],
      snapshot: [{ name: 'state', do: docker(part, 'inspect', { expect: 'running' }) }],
      inject: [docker(part, how)],
      undo: [docker(part, how === 'pause' ? 'unpause' : 'start')],
      active: docker(part, 'inspect', { expect: broken }),
      digest: docker(part, 'inspect'),
    };
  },
});
