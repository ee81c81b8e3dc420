import { isStackName } from '../stack/names.ts';
import type { UpResult } from '../stack/up.ts';
import { readOptions, WrongUsage } from './arguments.ts';
import { onSignal } from './signals.ts';

export const summary = 'bring up a stack of the platform under test';
export const help = `Usage: hopdrill up [--stack NAME] [--profile fast|seed-defaults] [--browser] [--keep] [--json]

Brings a stack up and waits until it answers: the edge, both nodes, and a terminal on each of them.
Several stacks live side by side under their own names, networks and ports, published on loopback only.
Ctrl-C takes away what was begun. A stack that is up already is noticed within a second.

  --stack NAME     its name (default: default)
  --profile NAME   policy values: fast (default) or seed-defaults
  --browser        with a Chromium of its own
  --keep           leave a stack that did not come up as it is
  --json           one JSON document on stdout; progress stays on stderr

Examples:
  hopdrill up
  hopdrill up --stack drill --profile seed-defaults --browser

Exit codes: 0 up, 1 did not come up, 64 wrong usage, 69 a prerequisite cannot be had, 70 internal error, 130 interrupted.
`;

const options = {
  stack: { type: 'string', default: 'default' },
  profile: { type: 'string', default: 'fast' },
  browser: { type: 'boolean', default: false },
  keep: { type: 'boolean', default: false },
  json: { type: 'boolean', default: false },
} as const;

function read(argv: readonly string[]) {
  const { stack, profile, browser, keep, json } = readOptions('up', argv, options);
  if (!isStackName(stack))
    throw new WrongUsage(`up: --stack ${stack}: a letter, then letters, digits and dashes`);
  if (profile !== 'fast' && profile !== 'seed-defaults')
    throw new WrongUsage(`up: --profile ${profile}: fast or seed-defaults ("hopdrill up --help")`);
  return { stack, profile, browser, keep, json } as const;
}

/**
 * Prerequisites are looked at only when the stack is not there already: that look alone takes most
 * of a second.
 */
async function prerequisites(stack: string): Promise<number> {
  const { readState } = await import('../stack/state.ts');
  if (readState(stack)?.phase === 'up') return 0;
  const { setup } = await import('../stack/bootstrap/setup.mjs');
  return setup(['--for', 'up']);
}

function print(result: UpResult, seconds: number, json: boolean): void {
  const { stack, profileFile, addresses, alreadyUp } = result;
  if (json) {
    process.stdout.write(
      `${JSON.stringify({ stack, seconds, alreadyUp, profile: profileFile, slot: addresses.slot, ports: addresses.ports }, null, 2)}\n`,
    );
    return;
  }
  const state = alreadyUp ? 'is up already, and green' : 'is up, and green';
  const console = `https://console.gpuaas.test:${addresses.ports.edge}/ (on 127.0.0.1)`;
  process.stdout.write(
    `stack ${stack} ${state} (${seconds.toFixed(1)} s)\n  profile  ${profileFile}\n  console  ${console}\n`,
  );
}

export async function run(argv: readonly string[]): Promise<number> {
  const wanted = read(argv);
  const startedAt = performance.now();
  const seconds = () => (performance.now() - startedAt) / 1000;
  const say = (line: string) =>
    void process.stderr.write(`[${seconds().toFixed(1).padStart(5)} s] ${line}\n`);
  const abort = new AbortController();
  const end = onSignal((name) => {
    if (!abort.signal.aborted) say(`${name}: taking away what was begun`);
    abort.abort(new Error(`interrupted by ${name}`));
  });
  try {
    return await bringUp(wanted, abort.signal, say, seconds);
  } finally {
    end();
  }
}

type Wanted = ReturnType<typeof read>;

async function bringUp(
  wanted: Wanted,
  signal: AbortSignal,
  say: (line: string) => void,
  seconds: () => number,
): Promise<number> {
  const { stack, profile, browser, keep, json } = wanted;
  const code = await prerequisites(stack);
  if (code !== 0) return code;
  if (signal.aborted) return 130;
  const { up, UpFailed } = await import('../stack/up.ts');
  try {
    const result = await up(stack, { profile, browser, keep, signal, say });
    if (!result.alreadyUp) await (await import('../undo/forget.ts')).forget(stack);
    print(result, seconds(), json);
    return 0;
  } catch (error) {
    if (signal.aborted) return 130;
    if (!(error instanceof UpFailed)) throw error;
    process.stderr.write(`${error.message}\n`);
    return 1;
  }
}
