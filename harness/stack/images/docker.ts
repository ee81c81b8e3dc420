// How images are built: the full output of each command goes to a log file, and the end of that log
// into the error.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { lastLines, run, SetupError, stateDir } from '../bootstrap/machine.mjs';
import { docker, tryDocker } from '../docker-cli.ts';

export const label = 'dev.hopdrill.image=1';

export function logFileOf(image: string): string {
  const file = join(stateDir(), `build-${image}.log`);
  writeFileSync(file, '');
  return file;
}

/** Runs one command of a build; its failure shows the last 30 lines and says where the rest is. */
export async function buildCommand(
  image: string,
  logFile: string,
  command: string,
  args: string[],
  env: Record<string, string> = {},
): Promise<void> {
  const result = await run(command, args, { logFile, env, deadlineMs: 1_800_000 });
  if (result.code === 0) return;
  throw new SetupError({
    missing: `image ${image} (${command} ${args[0] ?? ''} failed, whole log: ${logFile})`,
    why: 'the platform under test runs from it',
    command: 'set right what the last lines name, then: ./hopdrill setup',
    detail: lastLines(`${result.stdout}\n${result.stderr}`, 30),
  });
}

/**
 * Proxy settings of this machine, handed on by name; the client takes the values from the
 * environment.
 */
const proxyArgs = () =>
  ['HTTP_PROXY', 'HTTPS_PROXY', 'NO_PROXY', 'http_proxy', 'https_proxy', 'no_proxy']
    .filter((name) => process.env[name] !== undefined)
    .flatMap((name) => ['--build-arg', name]);

/**
 * BuildKit of the engine itself, whatever builder the person has chosen: another one cannot see the
 * engine's own images, and the parents lie nowhere else. Without the plugin, the classic builder.
 */
async function buildWords(): Promise<{ words: string[]; env: Record<string, string> }> {
  const { ok } = await tryDocker(['buildx', 'version'], AbortSignal.timeout(20_000));
  if (!ok) return { words: ['build'], env: { DOCKER_BUILDKIT: '0' } };
  const context = await docker(['context', 'inspect', '--format', '{{.Name}}']);
  return {
    words: ['buildx', 'build', '--builder', context, '--load', '--progress', 'plain'],
    env: {},
  };
}

interface Build {
  image: string;
  tag: string;
  dockerfile: string;
  context: string;
  args: Record<string, string>;
}

export async function build({ image, tag, dockerfile, context, args }: Build): Promise<void> {
  const { words, env } = await buildWords();
  const buildArgs = Object.entries(args).flatMap(([key, value]) => [
    '--build-arg',
    `${key}=${value}`,
  ]);
  const rest = [
    '--label',
    label,
    '-t',
    tag,
    '-f',
    dockerfile,
    ...buildArgs,
    ...proxyArgs(),
    context,
  ];
  await buildCommand(image, logFileOf(image), 'docker', [...words, ...rest], env);
}

/** Every tag of ours that the engine holds, with the id of its image. */
export async function presentTags(): Promise<Map<string, string>> {
  const format = '{{.Repository}}:{{.Tag}} {{.ID}}';
  const text = await docker(['image', 'ls', '--filter', `label=${label}`, '--format', format]);
  const pairs = text
    .split('\n')
    .map((line) => line.split(' '))
    .filter((words): words is [string, string] => words.length === 2);
  return new Map(pairs);
}

/** Tags of an image that no longer follow from the sources. A tag that a container uses stays. */
export const staleTags = (present: Iterable<string>, name: string, keep: string) =>
  [...present].filter(
    (tag) => tag.startsWith(`${name}:`) && tag !== keep && tag !== `${name}:latest`,
  );
