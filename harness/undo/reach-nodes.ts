/**
 * Runs a command as root on a node: by SSH through sudo, over one connection that is kept; when
 * that is cut, by the lifeline of the profile. The SSH driver is loaded when first needed.
 */
import type { DockerDriver } from '../drivers/docker.ts';
import { DriverError, isDriverError } from '../drivers/errors.ts';
import type { SshConnection } from '../drivers/ssh.ts';
import type { ActionResult } from '../records/action.ts';
import type { NodeTarget, Targets } from '../records/ledger.ts';

export interface RunOptions {
  readonly timeoutMs?: number;
  /** It may run twice, so a lost connection is no reason to stop. */
  readonly idempotent?: boolean;
}

export type Outcome = Omit<ActionResult, 'ms'>;

type CommandOptions = RunOptions & { stdin?: string };

export function openNodes(targets: Targets, docker: () => Promise<DockerDriver>) {
  const connections = keepConnections(targets);
  const viaLifeline = new Set<string>();
  const exec = async (
    name: string,
    argv: readonly string[],
    options: CommandOptions,
  ): Promise<Outcome> => {
    const byLifeline = () => execByLifeline(nodeOf(targets, name), docker, argv, options);
    if (viaLifeline.has(name)) return byLifeline();
    try {
      return await execBySsh(await connections.connect(name), argv, options);
    } catch (error) {
      if (!mayUseLifeline(error, options)) throw error;
      const result = await byLifeline();
      // Remembered for a while only: the undo of the fault may be what brings SSH back.
      viaLifeline.add(name);
      setTimeout(() => viaLifeline.delete(name), 3000).unref();
      return result;
    }
  };
  return { exec, viaLifeline, close: connections.close };
}

interface Entry {
  readonly opening: Promise<SshConnection>;
  live: SshConnection | null;
}

function keepConnections(targets: Targets) {
  const connections = new Map<string, Entry>();
  let closed = false;
  return {
    // Entered into the map before anything is awaited: two callers at once must not open two
    // connections.
    connect(name: string): Promise<SshConnection> {
      const known = connections.get(name);
      if (known !== undefined && known.live?.closed !== true) return known.opening;
      if (closed) throw new DriverError('ssh', 'bad_request', 'already closed');
      const entry: Entry = { opening: open(nodeOf(targets, name)), live: null };
      connections.set(name, entry);
      entry.opening.then(
        (connection) => {
          entry.live = connection;
        },
        () => connections.delete(name),
      );
      return entry.opening;
    },
    close(): void {
      closed = true;
      for (const { opening } of connections.values())
        opening.then(
          (connection) => connection.close(),
          () => {},
        );
      connections.clear();
    },
  };
}

/** A wrong host key is no broken way in, it is a wrong host; and not everything may run twice. */
function mayUseLifeline(error: unknown, { idempotent }: CommandOptions): boolean {
  if (!isDriverError(error)) return false;
  if (error.code === 'changed_host_key' || error.code === 'unknown_host_key') return false;
  const mayHaveRun = error.code === 'lost' || error.code === 'timeout';
  return !mayHaveRun || idempotent === true;
}

async function execBySsh(
  connection: SshConnection,
  argv: readonly string[],
  options: CommandOptions,
): Promise<Outcome> {
  const result = await connection.exec(argv, { ...options, sudo: true });
  return { code: result.code ?? 128, stdout: result.stdout, stderr: result.stderr };
}

/** With the lifeline's own address: a second sshd beside the usual one. */
async function execByLifeline(
  node: NodeTarget,
  docker: () => Promise<DockerDriver>,
  argv: readonly string[],
  options: CommandOptions,
): Promise<Outcome> {
  const { lifeline } = node;
  if (lifeline.kind === 'docker')
    return (await docker()).exec(lifeline.container, argv, { timeoutMs: 15_000, ...options });
  const second = await open({ ...node, sshHost: lifeline.host, sshPort: lifeline.port }, 5000);
  try {
    return await execBySsh(second, argv, options);
  } finally {
    second.close();
  }
}

async function open(node: NodeTarget, timeoutMs = 2500): Promise<SshConnection> {
  const { sshHost: host, sshPort: port, sshUser: user, sshKeyFile: keyFile } = node;
  const { knownHostsFile } = node;
  const complete = host && port && user && keyFile && knownHostsFile;
  // The lifeline is used instead, as when SSH is cut.
  if (!complete) throw new DriverError('ssh', 'unreachable', 'the profile names no SSH');
  const { connectSsh } = await import('../drivers/ssh.ts');
  return connectSsh({ host, port, user, keyFile, knownHostsFile, timeoutMs });
}

function nodeOf(targets: Targets, name: string) {
  const node = targets.nodes[name];
  if (node === undefined)
    throw new DriverError(
      'ssh',
      'missing',
      `the profile names no node ${name} (${Object.keys(targets.nodes).join(', ')})`,
    );
  return node;
}
