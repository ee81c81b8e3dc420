import { isStackName } from '../stack/names.ts';
import { readStackFile, type StackFile } from '../stack/read-declaration.ts';
import type { UpResult } from '../stack/up.ts';
import { type AskedSystem, stackFileOf, usualSystem } from '../systems/index.ts';
import { readOptions, WrongUsage } from './arguments.ts';
import { onSignal } from './signals.ts';

export const summary = 'bring up a stack of the platform under test';
export async function help(): Promise<string> {
  const { system, file } = await target();
  const own = Object.entries(file.options).map(
    ([name, option]) => `  --${name.padEnd(14)} ${option.help}\n`,
  );
  const sets = Object.keys(file.policies?.sets ?? {});
  const of = sets.length === 0 ? 'none' : `${sets.join(', ')}; the first one by itself`;
  return `Usage: hopdrill up [--system NAME] [--stack NAME] [--policies SET] [options]

Brings a stack up and waits until its preflight is green. Several stacks live side by side under their own names,
networks and ports, published on loopback only. Ctrl-C takes away what was begun. A stack that is up already is
noticed within a second.

  --system NAME    what to bring up: a system of hopdrill, or the path of a module with one of your own
  --stack NAME     its name (default: default)
  --policies SET   the numbers that it lives by
  --keep           leave a stack that did not come up as it is
  --json           one JSON document on stdout; progress stays on stderr

Of ${system.name} (--system NAME --help tells of another system):
  policies         ${of}
${own.join('')}
Examples:
  hopdrill up
  hopdrill up --system ./my-system.ts
  hopdrill up --stack drill${[...(sets[1] === undefined ? [] : [` --policies ${sets[1]}`]), ...Object.keys(file.options).map((name) => ` --${name}`)].join('')}

Exit codes: 0 up, 1 did not come up, 64 wrong usage, 69 a prerequisite cannot be had, 70 internal error, 130 interrupted.
`;
}

const options = {
  stack: { type: 'string', default: 'default' },
  policies: { type: 'string' },
  keep: { type: 'boolean', default: false },
  json: { type: 'boolean', default: false },
  // Only to say what it is called now.
  profile: { type: 'string' },
} as const;

interface Wanted {
  readonly system: AskedSystem;
  readonly file: StackFile;
  readonly stack: string;
  readonly policies: string | null;
  readonly options: readonly string[];
  readonly keep: boolean;
  readonly json: boolean;
}

/** The system that is meant, and what its compose file declares. */
export async function target(): Promise<Pick<Wanted, 'system' | 'file'>> {
  const system = await usualSystem();
  const composeFile = await stackFileOf(system.name);
  if (composeFile === null)
    throw new WrongUsage(
      `${system.name} has no stack to bring up: its module names no compose file`,
    );
  return { system, file: readStackFile(composeFile) };
}

async function read(argv: readonly string[]): Promise<Wanted> {
  const { system, file } = await target();
  const own = Object.fromEntries(
    Object.keys(file.options).map((name) => [name, { type: 'boolean', default: false }] as const),
  );
  const given = readOptions('up', argv, { ...own, ...options });
  const { stack, keep, json } = given;
  if (given.profile !== undefined)
    throw new WrongUsage(
      'up: --profile: policies are given with --policies ("hopdrill up --help")',
    );
  if (!isStackName(stack))
    throw new WrongUsage(`up: --stack ${stack}: a letter, then letters, digits and dashes`);
  const sets = Object.keys(file.policies?.sets ?? {});
  const policies = given.policies ?? sets[0] ?? null;
  if (policies !== null && !sets.includes(policies))
    throw new WrongUsage(
      `up: --policies ${policies}: ${sets.join(' or ') || `${system.name} has none`} ("hopdrill up --help")`,
    );
  const chosen = Object.keys(own).filter(
    (name) => (given as Readonly<Record<string, unknown>>)[name] === true,
  );
  return { system, file, stack, policies, options: chosen, keep, json };
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

function print(
  { stack, profileFile, profile, addresses, alreadyUp }: UpResult,
  seconds: number,
  json: boolean,
): void {
  if (json) {
    const { slot, port } = addresses;
    const told = {
      stack,
      system: profile.system,
      seconds,
      alreadyUp,
      profile: profileFile,
      slot,
      ports: port,
    };
    process.stdout.write(`${JSON.stringify(told, null, 2)}\n`);
    return;
  }
  const state = alreadyUp ? 'is up already, and green' : 'is up, and green';
  const places = Object.entries({ profile: profileFile, ...profile.endpoints });
  const width = Math.max(...places.map(([name]) => name.length));
  const at =
    profile.connect.address === undefined ? '' : ` (public names: on ${profile.connect.address})`;
  process.stdout.write(
    `stack ${stack} ${state} (${seconds.toFixed(1)} s)${at}\n${places.map(([name, where]) => `  ${name.padEnd(width)}  ${where}\n`).join('')}`,
  );
}

export async function run(argv: readonly string[]): Promise<number> {
  const wanted = await read(argv);
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

async function bringUp(
  { stack, json, ...wanted }: Wanted,
  signal: AbortSignal,
  say: (line: string) => void,
  seconds: () => number,
): Promise<number> {
  const code = await prerequisites(stack);
  if (code !== 0) return code;
  if (signal.aborted) return 130;
  const { up, UpFailed } = await import('../stack/up.ts');
  try {
    const result = await up(stack, { ...wanted, signal, say });
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
