import { z } from 'zod';
import type { DockerAction } from '../records/action.ts';
import { defineFault } from './define.ts';

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
    const docker = (verb: DockerAction['verb']): DockerAction => ({
      kind: 'docker',
      part,
      verb,
      okCodes: [0],
    });
    // A part that the engine would bring back by itself is stopped, not killed and forgotten.
    const broken = how === 'pause' ? 'paused' : 'stopped';
    const url =
      part === profile.links?.part
        ? Object.keys(profile.nodes).map((node) => `link:${node}.*`)
        : [];
    return {
      summary: `${part} is ${how === 'pause' ? 'paused' : 'stopped'}${how === 'kill' ? ' (killed)' : ''}`,
      cuts: [`part:${part}`, ...url],
      snapshot: [{ name: 'state', do: { ...docker('inspect'), expect: 'running' } }],
      inject: [docker(how)],
      undo: [docker(how === 'pause' ? 'unpause' : 'start')],
      active: { ...docker('inspect'), expect: broken },
      digest: docker('inspect'),
    };
  },
});
