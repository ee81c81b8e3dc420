/**
 * The engine's API by dockerode, each call with a deadline. A container is named as the profile
 * names it; nothing here knows a stack.
 */
import { PassThrough } from 'node:stream';
import Docker from 'dockerode';
import { messageOf } from '../base/message-of.ts';
import { measure } from '../base/spans.ts';
import { DriverError, withDeadline } from './errors.ts';

export interface ContainerState {
  readonly id: string;
  readonly status: 'running' | 'paused' | 'stopped';
  readonly startedAt: string;
  readonly restarts: number;
}

export interface ExecResult {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

export interface DockerDriver {
  engineId(): Promise<string>;
  inspect(container: string): Promise<ContainerState>;
  start(container: string): Promise<void>;
  stop(container: string, graceSeconds?: number): Promise<void>;
  kill(container: string, signal?: string): Promise<void>;
  pause(container: string): Promise<void>;
  unpause(container: string): Promise<void>;
  restart(container: string, graceSeconds?: number): Promise<void>;
  exec(
    container: string,
    argv: readonly string[],
    options?: { stdin?: string; timeoutMs?: number },
  ): Promise<ExecResult>;
  /** Whether there is such a path in the container; asks the engine alone and starts no process. */
  has(container: string, path: string): Promise<boolean>;
  /** Both streams, with the engine's time in front of each line. */
  logsSince(container: string, since: Date): Promise<string>;
  /** Processor time since its start, and the memory that it holds now; page cache is nobody's. */
  usage(container: string): Promise<{ cpuSeconds: number; memoryBytes: number }>;
}

const deadlineMs = 10_000;

export function openDocker(options: { socketPath?: string } = {}): DockerDriver {
  const docker = new Docker(
    options.socketPath === undefined ? {} : { socketPath: options.socketPath },
  );
  const call = <T>(what: string, work: () => Promise<T>, ms = deadlineMs): Promise<T> =>
    measure('driver', `docker ${what}`, () =>
      withDeadline('docker', what, ms, work()).catch((error: unknown) =>
        Promise.reject(wrap(what, error)),
      ),
    );
  // 304: it is already so. An undo may run twice.
  const settled = (what: string, work: () => Promise<unknown>, ms?: number): Promise<void> =>
    call(
      what,
      async () =>
        void (await work().catch((error: { statusCode?: number }) =>
          error.statusCode === 304 ? undefined : Promise.reject(error),
        )),
      ms,
    );
  return {
    engineId: () =>
      call('info', async () => String(((await docker.info()) as { ID?: string }).ID ?? 'unknown')),
    inspect: (name) =>
      call(`inspect ${name}`, async () => stateOf(await docker.getContainer(name).inspect())),
    start: (name) => settled(`start ${name}`, () => docker.getContainer(name).start()),
    stop: (name, graceSeconds = 3) =>
      settled(
        `stop ${name}`,
        () => docker.getContainer(name).stop({ t: graceSeconds }),
        deadlineMs + graceSeconds * 1000,
      ),
    kill: (name, signal = 'SIGKILL') =>
      settled(`kill ${name}`, () => docker.getContainer(name).kill({ signal })),
    pause: (name) => settled(`pause ${name}`, () => docker.getContainer(name).pause()),
    unpause: (name) => settled(`unpause ${name}`, () => docker.getContainer(name).unpause()),
    restart: (name, graceSeconds = 3) =>
      settled(
        `restart ${name}`,
        () => docker.getContainer(name).restart({ t: graceSeconds }),
        2 * deadlineMs,
      ),
    exec: (name, argv, { stdin, timeoutMs = deadlineMs } = {}) =>
      call(`exec ${name} ${argv[0] ?? ''}`, () => exec(docker, name, argv, stdin), timeoutMs),
    has: (name, path) =>
      call(`look for ${path} in ${name}`, () =>
        docker
          .getContainer(name)
          .infoArchive({ path })
          .then(
            (answer) => {
              // Unread, it would hold its connection open, and with it the process.
              answer.resume();
              return true;
            },
            (error: { statusCode?: number }) =>
              error.statusCode === 404 ? false : Promise.reject(error),
          ),
      ),
    logsSince: (name, since) => call(`logs ${name}`, () => logsSince(docker, name, since)),
    usage: (name) => call(`usage ${name}`, () => usage(docker, name)),
  };
}

function wrap(what: string, error: unknown): DriverError {
  if (error instanceof DriverError) return error;
  const { statusCode: status, code } = error as { statusCode?: number; code?: string };
  const kind =
    status === 404
      ? 'missing'
      : status !== undefined
        ? 'failed'
        : code === 'ECONNRESET'
          ? 'lost'
          : 'unreachable';
  return new DriverError('docker', kind, `${what}: ${messageOf(error)}`, {
    cause: error,
    ...(status === undefined ? {} : { status }),
  });
}

function stateOf(info: Docker.ContainerInspectInfo): ContainerState {
  const status = info.State.Paused ? 'paused' : info.State.Running ? 'running' : 'stopped';
  return {
    id: info.Id,
    status,
    startedAt: info.State.StartedAt,
    restarts: (info as { RestartCount?: number }).RestartCount ?? 0,
  };
}

async function exec(
  docker: Docker,
  name: string,
  argv: readonly string[],
  stdin: string | undefined,
): Promise<ExecResult> {
  const attach = stdin !== undefined;
  const job = await docker.getContainer(name).exec({
    Cmd: [...argv],
    User: '0',
    AttachStdin: attach,
    AttachStdout: true,
    AttachStderr: true,
  });
  const stream = await job.start(attach ? { hijack: true, stdin: true } : {});
  const out: Buffer[] = [];
  const err: Buffer[] = [];
  const stdout = new PassThrough().on('data', (chunk: Buffer) => out.push(chunk));
  const stderr = new PassThrough().on('data', (chunk: Buffer) => err.push(chunk));
  docker.modem.demuxStream(stream, stdout, stderr);
  if (attach) stream.end(stdin);
  await new Promise<void>((resolve, reject) => {
    stream.once('end', resolve).once('close', resolve).once('error', reject);
  });
  const result = {
    code: await exitCode(job),
    stdout: Buffer.concat(out).toString(),
    stderr: Buffer.concat(err).toString(),
  };
  const said = `${result.stdout}${result.stderr}`;
  if (result.code !== 0 && stoppedMeanwhile.test(said))
    throw new DriverError('docker', 'failed', `exec ${name}: ${said.trim()}`, { status: conflict });
  return result;
}

/** What the engine answers for a container that is not running. */
const conflict = 409;
/** In its words for one that stops between the order and the start of the command. */
export const stoppedMeanwhile =
  /^OCI runtime exec failed: .*(executing setns process|stopped container|is not running)/;

/** The engine may still call it running for a moment after the streams ended. */
async function exitCode(job: Docker.Exec): Promise<number> {
  for (let attempt = 0; attempt < 50; attempt += 1) {
    const state = await job.inspect();
    if (!state.Running && state.ExitCode !== null) return state.ExitCode;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  throw new DriverError('docker', 'lost', 'the engine does not say how the command ended');
}

async function logsSince(docker: Docker, name: string, since: Date): Promise<string> {
  const raw = await docker.getContainer(name).logs({
    stdout: true,
    stderr: true,
    timestamps: true,
    since: since.getTime() / 1000,
    follow: false,
  });
  return demux(raw as unknown as Buffer);
}

/** A log that is read at once comes as frames: type, three zeros, length, bytes. */
function demux(raw: Buffer): string {
  const parts: Buffer[] = [];
  for (let at = 0; at + 8 <= raw.length; ) {
    const length = raw.readUInt32BE(at + 4);
    parts.push(raw.subarray(at + 8, at + 8 + length));
    at += 8 + length;
  }
  return Buffer.concat(parts).toString();
}

async function usage(
  docker: Docker,
  name: string,
): Promise<{ cpuSeconds: number; memoryBytes: number }> {
  const { cpu_stats: cpu, memory_stats: memory } = await docker
    .getContainer(name)
    .stats({ stream: false, 'one-shot': true });
  const counts: Partial<Record<string, number>> = memory.stats;
  // With cgroup v1 the total is that of the nested groups too; v2 has no other.
  const cached = (list: 'active_file' | 'inactive_file'): number =>
    counts[`total_${list}`] ?? counts[list] ?? 0;
  return {
    cpuSeconds: cpu.cpu_usage.total_usage / 1e9,
    memoryBytes: memory.usage - cached('active_file') - cached('inactive_file'),
  };
}
