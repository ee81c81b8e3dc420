/**
 * SSH to one host over one connection: pinned host keys, at most five channels at once (sshd allows
 * ten and is slow to give them back), no Nagle delay (88 ms a command otherwise). It must never
 * build a shell string from unquoted input.
 */
import { readFileSync } from 'node:fs';
import ssh2, { type ClientChannel, type ConnectConfig } from 'ssh2';
import { messageOf } from '../base/message-of.ts';
import { measure } from '../base/spans.ts';
import { DriverError, withDeadline } from './errors.ts';
import { readPinnedKeys } from './known-hosts.ts';
import { createSlots } from './slots.ts';

export interface SshTarget {
  readonly host: string;
  readonly port: number;
  readonly user: string;
  readonly keyFile: string;
  readonly knownHostsFile: string;
  readonly timeoutMs?: number;
}

export interface SshResult {
  readonly code: number | null;
  readonly signal: string | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface SshExecOptions {
  readonly stdin?: string | Buffer;
  readonly timeoutMs?: number;
  readonly sudo?: boolean;
}

export interface SshConnection {
  readonly closed: boolean;
  exec(argv: readonly string[], options?: SshExecOptions): Promise<SshResult>;
  close(): void;
}

interface State {
  closed: boolean;
  /** What the library said when the connection ended, if it said anything. */
  why: string;
  hostKey: string;
  /** Told when the connection ends under them. */
  readonly waiting: Set<() => void>;
}

/** The one place where arguments become a remote command line. */
export function quoteArgv(argv: readonly string[]): string {
  return argv
    .map((word) => {
      if (word.includes('\0'))
        throw new DriverError('ssh', 'bad_request', 'an argument contains a NUL byte');
      return /^[A-Za-z0-9_@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
    })
    .join(' ');
}

export async function connectSsh(target: SshTarget): Promise<SshConnection> {
  return measure('driver', `ssh connect ${target.host}:${target.port}`, () => connect(target));
}

async function connect(target: SshTarget): Promise<SshConnection> {
  const timeoutMs = target.timeoutMs ?? 5000;
  const pinned = readPinnedKeys(target.knownHostsFile, target.host, target.port);
  const client = new ssh2.Client();
  const state: State = {
    closed: false,
    why: 'the other side closed it',
    hostKey: '',
    waiting: new Set(),
  };
  // One listener for all commands: a hundred of them would look like a leak.
  client.on('close', () => {
    state.closed = true;
    for (const tell of state.waiting) tell();
  });
  const ready = new Promise<void>((resolve, reject) => {
    client.once('ready', resolve);
    // The listener stays: an error without one would end the process.
    client.on('error', (error: Error & { level?: string }) => {
      state.closed = true;
      state.why = error.message;
      reject(connectError(target, error, state.hostKey));
    });
    client.once('close', () =>
      reject(
        new DriverError(
          'ssh',
          'unreachable',
          `${target.host}:${target.port} closed the connection`,
        ),
      ),
    );
  });
  client.connect(configOf(target, timeoutMs, pinned, (key) => (state.hostKey = key)));
  client.setNoDelay(true);
  try {
    await withDeadline(
      'ssh',
      `connect to ${target.host}:${target.port}`,
      timeoutMs + 200,
      ready,
      () => client.destroy(),
    );
  } catch (error) {
    client.destroy();
    throw error;
  }
  const slots = createSlots(5);
  return {
    get closed() {
      return state.closed;
    },
    exec: (argv, options = {}) =>
      measure('driver', `ssh exec ${argv[0] ?? ''}`, () =>
        slots.run(() => exec(client, state, argv, options)),
      ),
    close: () => {
      client.end();
    },
  };
}

function configOf(
  target: SshTarget,
  timeoutMs: number,
  pinned: readonly { type: string; key: string }[],
  seen: (key: string) => void,
): ConnectConfig {
  const types = [
    ...new Set(
      pinned.flatMap(({ type }) =>
        type === 'ssh-rsa' ? ['rsa-sha2-512', 'rsa-sha2-256'] : [type],
      ),
    ),
  ];
  return {
    host: target.host,
    port: target.port,
    username: target.user,
    privateKey: readFileSync(target.keyFile),
    readyTimeout: timeoutMs,
    // Notices a host that went silent, which an idle TCP connection does not.
    keepaliveInterval: 1000,
    keepaliveCountMax: 4,
    algorithms: { serverHostKey: types as never },
    // The library would first ask whether no credential at all is enough: a round trip for nothing.
    authHandler: ['publickey'],
    hostVerifier: (key: Buffer) => {
      const presented = key.toString('base64');
      seen(presented);
      return pinned.some((pin) => pin.key === presented);
    },
  };
}

function connectError(
  target: SshTarget,
  error: Error & { level?: string; code?: string },
  hostKey: string,
): DriverError {
  const where = `${target.host}:${target.port}`;
  if (error.message.includes('Host denied') || (error.level === 'handshake' && hostKey !== '')) {
    return new DriverError(
      'ssh',
      'changed_host_key',
      `${where} presents a host key that is not the pinned one (${target.knownHostsFile}); refusing to talk to it`,
      { cause: error },
    );
  }
  if (error.level === 'client-authentication')
    return new DriverError('ssh', 'auth', `${where} refused user ${target.user}`, { cause: error });
  if (error.code === 'ECONNREFUSED')
    return new DriverError('ssh', 'refused', `${where} refused the connection`, { cause: error });
  return new DriverError('ssh', 'unreachable', `${where}: ${error.message}`, { cause: error });
}

async function exec(
  client: ssh2.Client,
  state: State,
  argv: readonly string[],
  options: SshExecOptions,
): Promise<SshResult> {
  if (state.closed) throw new DriverError('ssh', 'unreachable', 'the connection is closed');
  const timeoutMs = options.timeoutMs ?? 15_000;
  const command = quoteArgv(options.sudo === true ? ['sudo', '-n', '--', ...argv] : argv);
  const opened = openChannel(client, state, command, options.stdin);
  const { channel, result } = await withDeadline(
    'ssh',
    'open a channel',
    Math.min(timeoutMs, 5000),
    opened,
  );
  return withDeadline('ssh', `run ${argv[0] ?? ''}`, timeoutMs, result, () => channel.close());
}

interface Opened {
  readonly channel: ClientChannel;
  readonly result: Promise<SshResult>;
}

/**
 * Listens inside the callback: a quick command's exit status may come in the same packet as the
 * channel, and is told only once.
 */
async function openChannel(
  client: ssh2.Client,
  state: State,
  command: string,
  stdin: string | Buffer | undefined,
): Promise<Opened> {
  return new Promise((resolve, reject) => {
    const onLost = (): void =>
      reject(
        new DriverError(
          'ssh',
          'unreachable',
          `connection closed before the command started (${state.why})`,
        ),
      );
    state.waiting.add(onLost);
    client.exec(command, (error, stream) => {
      state.waiting.delete(onLost);
      if (error === undefined) {
        const result = collect(state, stream, stdin);
        // Whoever waits hears of it; nobody may wait yet.
        result.catch(() => {});
        resolve({ channel: stream, result });
      } else
        reject(
          new DriverError('ssh', 'unreachable', `cannot open a channel: ${messageOf(error)}`, {
            cause: error,
          }),
        );
    });
  });
}

function collect(
  state: State,
  channel: ClientChannel,
  stdin: string | Buffer | undefined,
): Promise<SshResult> {
  return new Promise((resolve, reject) => {
    const out: Buffer[] = [];
    const err: Buffer[] = [];
    let ended: { code: number | null; signal: string | null } | undefined;
    const onLost = (): void => {
      state.waiting.delete(onLost);
      reject(
        new DriverError('ssh', 'lost', `connection lost while the command ran (${state.why})`),
      );
    };
    state.waiting.add(onLost);
    channel.on('data', (chunk: Buffer) => out.push(chunk));
    channel.stderr.on('data', (chunk: Buffer) => err.push(chunk));
    channel.on('error', onLost);
    channel.on('exit', (code: number | null, signal?: string) => {
      ended = { code, signal: signal ?? null };
    });
    channel.on('close', () => {
      // A channel that closes without an exit status belongs to a connection that broke.
      if (ended === undefined) return onLost();
      state.waiting.delete(onLost);
      resolve({
        ...ended,
        stdout: Buffer.concat(out).toString(),
        stderr: Buffer.concat(err).toString(),
      });
    });
    channel.end(stdin ?? '');
  });
}
