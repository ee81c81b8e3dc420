import { z } from 'zod';
import { openDocker } from '../../../drivers/docker.ts';
import type { HookContext } from '../../hooks.ts';
import { defineView } from '../../view.ts';
import { mustOnNode } from '../platform.ts';

/** More lines than this say no more than this many. */
const most = 1000;

const countIn = (text: string, isMeant: (line: string) => boolean): number =>
  Math.min(text.split('\n').filter(isMeant).length, most);

export function containerOf({ profile }: HookContext, part: string): string {
  const container = profile.parts[part]?.container;
  if (container === undefined) throw new Error(`the profile has no part ${part}`);
  return container;
}

export const logOf = (context: HookContext, part: string): Promise<string> =>
  openDocker().logsSince(containerOf(context, part), new Date(context.since));

export const log = defineView({
  title: 'lines of the log of a part since the run began',
  params: z.strictObject({ part: z.string(), has: z.string().min(1) }),
  fields: z.object({ lines: z.number().describe(`at most ${most}`) }),
  read: async (context, { part, has }) => ({
    lines: countIn(await logOf(context, part), (line) => line.includes(has)),
  }),
});

/** What a script of root leaves in the journal of its node when it has done its work. */
const scripts = ['-t', 'gpuaas-provision'];

export const effect = defineView({
  title: 'how often a task did its work on the node',
  params: z.strictObject({ task: z.string().min(1) }),
  fields: z.object({ times: z.number().describe(`at most ${most}`) }),
  async read(context, { task }) {
    const since = `@${Math.floor(Date.parse(context.since) / 1000)}`;
    const journal = ['journalctl', '-q', '-o', 'cat', '--since', since, ...scripts];
    const isOfTask = (line: string): boolean => line.endsWith(` for task ${task}`);
    return { times: countIn(await mustOnNode(context, journal), isOfTask) };
  },
});
