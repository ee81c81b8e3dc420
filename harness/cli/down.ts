import { messageOf } from '../base/message-of.ts';
import { isStackName } from '../stack/names.ts';
import { readOptions, WrongUsage } from './arguments.ts';

export const summary = 'take stacks away, with everything that they hold';
export const help = `Usage: hopdrill down [--stack NAME | --all]

Removes containers, networks, volumes, loop devices and state of a stack, also of one that a killed session left.
The Docker engine and the images stay.

  --stack NAME   that one (default: default)
  --all          every stack of hopdrill on this engine

Examples:
  hopdrill down
  hopdrill down --all

Exit codes: 0 gone, 1 something could not be removed, 64 wrong usage, 70 internal error.
`;

const options = { stack: { type: 'string' }, all: { type: 'boolean', default: false } } as const;

export async function run(argv: readonly string[]): Promise<number> {
  const { stack, all } = readOptions('down', argv, options);
  if (stack !== undefined && all)
    throw new WrongUsage('down: --stack or --all, not both ("hopdrill status" names the stacks)');
  if (stack !== undefined && !isStackName(stack))
    throw new WrongUsage(`down: --stack ${stack}: a letter, then letters, digits and dashes`);
  const [{ down, knownStacks }, { forget }] = await Promise.all([
    import('../stack/down.ts'),
    import('../undo/forget.ts'),
  ]);
  const names = all ? await knownStacks() : [stack ?? 'default'];
  let code = 0;
  const outcomes = await Promise.allSettled(
    names.map(async (name) => {
      const removed = await down(name);
      await forget(name);
      return removed;
    }),
  );
  for (const outcome of outcomes) {
    if (outcome.status === 'rejected') {
      process.stderr.write(`${messageOf(outcome.reason)}\n`);
      code = 1;
      continue;
    }
    const { stack: name, containers, networks, volumes, loops } = outcome.value;
    const counts = `${containers} containers, ${networks} networks, ${volumes} volumes${loops > 0 ? `, ${loops} loop devices` : ''}`;
    process.stdout.write(
      `stack ${name}: ${containers + networks + volumes + loops === 0 ? 'nothing was there' : `gone (${counts})`}\n`,
    );
  }
  if (names.length === 0) process.stdout.write('no stack of hopdrill here\n');
  return code;
}
