import { z } from 'zod';
import { defineFault } from '../../faults/define.ts';
import { exec, on, savedDir } from '../../faults/kit.ts';

const file = '/www/greeting';

const greetingChange = defineFault({
  name: 'greeting.change',
  title: 'Somebody wrote another greeting',
  why: 'A service that answers with the wrong thing is up for every check that looks at its status alone.',
  params: z.strictObject({ on, text: z.string().describe('what the service says then') }),
  targetKind: 'node',
  targetParam: 'on',
  undoKind: 'part-file',
  conflicts: { 'container.stop': 'nobody hears the greeting of a box that is down' },
  plan: ({ text }, box) => ({
    summary: `${box} says ${JSON.stringify(text)}`,
    cuts: [],
    snapshot: [{ name: 'saved', do: exec(box, 'mkdir -p "$1" && cp "$2" "$1/"', savedDir, file) }],
    inject: [exec(box, 'printf "%s\\n" "$2" > "$1"', file, text)],
    undo: [exec(box, 'cp "$1/greeting" "$2"', savedDir, file)],
    active: exec(box, '[ "$(cat "$1")" = "$2" ]', file, text),
    digest: exec(box, 'cksum < "$1"', file),
  }),
});

export const faults = [greetingChange];
