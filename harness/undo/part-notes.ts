/**
 * The undo of a part lies in the part itself, as that of a node lies on the node: lines of the
 * ledger in a file of the container. Somebody who has no ledger of the run (another user, a lost
 * disk) finds them there and takes the fault back.
 */
import { dirname } from 'node:path/posix';
import { messageOf } from '../base/message-of.ts';
import { isAlive } from '../base/owner.ts';
import type { DockerDriver } from '../drivers/docker.ts';
import { isDriverError } from '../drivers/errors.ts';
import { ledgerVersion, type NewLine, type Targets } from '../records/ledger.ts';
import type { Executor } from './execute.ts';
import { isFinal, replay, type StepRecord } from './ledger.ts';
import { globsOf, type Leftover, type MarkOptions, runPattern } from './marks.ts';
import { isRunId } from './paths.ts';
import { takeBack, verify } from './step.ts';

const home = '/var/lib/hopdrill';

const writeScript = `# leave the undo beside what is broken
set -e; umask 077; d="${home}/$1"; mkdir -p "$d"; cat > "$d/undo.new"; mv "$d/undo.new" "$d/undo.jsonl"`;

const removeScript = `# remove the note, and the folder when it was the last
rm -rf "${home}/$1"; rmdir ${home} 2>/dev/null; exit 0`;

const listScript = `# which notes lie here
cd ${home} 2>/dev/null || exit 0; for f in */undo.jsonl; do [ ! -e "$f" ] || echo "\${f%/*}"; done`;

const filesScript = `# files that faults leave
for glob in "$@"; do for f in $glob; do [ ! -e "$f" ] || echo "$f"; done; done`;

const readScript = `# the note
cat "${home}/$1/undo.jsonl"`;

const sh = (script: string, ...args: string[]): string[] => [
  'sh',
  '-c',
  script,
  'hopdrill',
  ...args,
];

interface Changing {
  readonly kind: string;
  readonly verb?: string;
  readonly part?: string;
}

/** The part in which an action changes something; one that is merely stopped has nothing to note. */
const partChangedBy = ({ kind, verb, part }: Changing): string[] =>
  kind === 'docker' && verb === 'exec' && part !== undefined ? [part] : [];

export function partsChanged(plans: readonly { readonly undo: readonly Changing[] }[]): string[] {
  return [...new Set(plans.flatMap(({ undo }) => undo.flatMap(partChangedBy)))];
}

/** A part that cannot keep a file is broken all the same: ledger and watchdog know the undo too. */
export async function leaveNote(
  executor: Executor,
  targets: Targets,
  part: string,
  run: string,
  lines: readonly NewLine[],
): Promise<void> {
  const about = lines.filter(
    (line) =>
      line.type !== 'step' || line.plan?.undo.flatMap(partChangedBy).includes(part) === true,
  );
  const text = about.map((line) => JSON.stringify({ ...line, v: ledgerVersion })).join('\n');
  await inPart(executor, targets, part, sh(writeScript, run), `${text}\n`).catch(() => undefined);
}

export async function removeNote(
  executor: Executor,
  targets: Targets,
  part: string,
  run: string,
): Promise<void> {
  await inPart(executor, targets, part, sh(removeScript, run)).catch((error: unknown) => {
    // A container that is gone took its note along.
    if (!isDriverError(error) || error.code !== 'missing') throw error;
  });
}

async function inPart(
  executor: Executor,
  targets: Targets,
  part: string,
  argv: readonly string[],
  stdin?: string,
): Promise<string> {
  const docker = await executor.docker();
  const container = targets.parts[part]?.container ?? part;
  const result = await docker.exec(container, argv, stdin === undefined ? {} : { stdin });
  if (result.code !== 0)
    throw new Error(`${part}: ${result.stderr.trim() || result.stdout.trim()}`);
  return result.stdout;
}

/** Looks by the engine alone first, so that parts with nothing of ours cost no process. */
async function has(docker: DockerDriver, container: string, path: string): Promise<boolean> {
  return docker.has(container, path).catch((error: unknown) => {
    // A part that is not there has nothing that could be taken back in it.
    if (isDriverError(error) && error.code === 'missing') return false;
    throw error;
  });
}

export async function sweepPart(
  executor: Executor,
  targets: Targets,
  part: string,
  options: MarkOptions,
): Promise<Leftover[]> {
  const docker = await executor.docker();
  const container = targets.parts[part]?.container ?? part;
  const found: Leftover[] = [];
  if (await has(docker, container, home)) {
    const notes = await inPart(executor, targets, part, sh(listScript));
    for (const run of notes.split('\n').filter(isRunId))
      found.push(await sweepNote(executor, targets, part, run, options));
  }
  const explained = new Set(found.map(({ run }) => run));
  const places = await existing(docker, container, options.places.part);
  if (places.length === 0) return found;
  const files = await inPart(executor, targets, part, sh(filesScript, ...globsOf(places))).catch(
    (error: unknown) => {
      // A part that is stopped or paused shows its files once it runs again.
      if (isDriverError(error) && error.status === 409) return '';
      throw error;
    },
  );
  const isKnown = (run: string): boolean => explained.has(run) || options.inUse(run);
  return [...found, ...unexplained(part, files.split('\n'), places, isKnown)];
}

/** Places whose folder the part has. */
async function existing(
  docker: DockerDriver,
  container: string,
  places: readonly string[],
): Promise<string[]> {
  const folders = [...new Set(places.map(dirname))];
  const there = await Promise.all(folders.map((folder) => has(docker, container, folder)));
  const known = folders.filter((_, index) => there[index]);
  return places.filter((place) => known.includes(dirname(place)));
}

/** Files of a run that left neither ledger nor note: how it was before is known to nobody. */
function unexplained(
  part: string,
  files: readonly string[],
  places: readonly string[],
  isKnown: (run: string) => boolean,
): Leftover[] {
  const patterns = places.map(runPattern);
  return files.flatMap((file): Leftover[] => {
    const run = patterns.map((pattern) => pattern.exec(file)?.[1]).find(Boolean);
    if (run === undefined || !isRunId(run) || isKnown(run)) return [];
    const detail = `no ledger and no note says what was there before; put back by hand what uses it, then remove it`;
    return [{ where: `part:${part}`, what: `file ${file}`, run, state: 'failed', detail }];
  });
}

async function sweepNote(
  executor: Executor,
  targets: Targets,
  part: string,
  run: string,
  options: MarkOptions,
): Promise<Leftover> {
  const about = { where: `part:${part}`, what: 'note', run };
  try {
    const note = replay(await inPart(executor, targets, part, sh(readScript, run)));
    const what = note.steps.map((step) => step.plan.fault).join(', ') || 'note';
    if (note.unreadable !== null)
      return { ...about, state: 'failed', detail: `its note cannot be read: ${note.unreadable}` };
    if (options.inUse(run) || (note.run !== null && isAlive(note.run.owner)))
      return { ...about, what, state: 'in_use', detail: 'its run goes on' };
    if (options.dryRun) return { ...about, what, state: 'found', detail: 'would be taken back' };
    const details: string[] = [];
    for (const step of note.steps.toReversed()) details.push(await takeBackStep(executor, step));
    await removeNote(executor, targets, part, run);
    return { ...about, what, state: 'removed', detail: details.join('; ') };
  } catch (error) {
    return { ...about, state: 'failed', detail: messageOf(error) };
  }
}

async function takeBackStep(executor: Executor, step: StepRecord): Promise<string> {
  const context = { executor, by: 'undo', append: () => undefined };
  const seen = await verify(step, context, 0);
  if (seen.state === 'verified') return seen.detail;
  const done = await takeBack(step, context);
  if (!isFinal(done.state)) throw new Error(`${step.plan.fault}: ${done.detail}`);
  return done.detail;
}
