// The Docker client as a program, for what the API has no word for or where its words are wanted.
// Commands go without a shell.
import { execa } from 'execa';

interface Said {
  readonly ok: boolean;
  readonly stdout: string;
  /** Both streams, in their order. */
  readonly all: string;
}

/** Whatever comes of it. */
export async function tryDocker(args: readonly string[], signal?: AbortSignal): Promise<Said> {
  const result = await execa('docker', args, {
    reject: false,
    stdin: 'ignore',
    all: true,
    ...(signal && { cancelSignal: signal }),
  });
  return {
    ok: !result.failed,
    stdout: result.stdout,
    all: result.all || result.shortMessage || '',
  };
}

/** What it printed; that it failed is an error with its last lines. */
export async function docker(args: readonly string[], signal?: AbortSignal): Promise<string> {
  const { ok, stdout, all } = await tryDocker(args, signal);
  if (ok) return stdout;
  const last = all.trim().split('\n').slice(-3).join('\n');
  throw new Error(`docker ${args.slice(0, 2).join(' ')}: ${last}`);
}

/** For clearing away: what is gone already is no error. */
export const dockerQuietly = async (args: readonly string[]): Promise<string> =>
  (await tryDocker(args)).stdout;
