// One visit to the node for a whole preflight: one new SSH connection, one command, everything
// asked side by side there.
import { readFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import type { Policies, Request } from '../../../preflight/types.ts';
import { number, text } from '../flags.ts';
import {
  dialSeconds,
  secondLookSeconds,
  sshSeconds,
  stale,
  terminalDialSeconds,
  visitSeconds,
} from '../policies.ts';

export type Facts = Readonly<Record<string, string>>;

export interface Visit {
  /** SSH: connected, logged in, and the sentinel came back. */
  readonly ssh:
    | { readonly ok: true }
    | {
        readonly ok: false;
        readonly cause: string;
        readonly detail: string;
        readonly ours: boolean;
      };
  readonly host: string;
  readonly connectMs: number;
  readonly totalMs: number;
  /** Null: SSH works, and the probes could not run there (`probeError` says why). */
  readonly sections: Readonly<Record<string, Facts>> | null;
  readonly probeError: string | null;
  /** Node clock minus ours, and how sure that is. */
  readonly clockOffsetMs: number | null;
  readonly clockErrorMs: number;
  /**
   * The agent's diagnostic record as it is now, over the same connection; null when it cannot be
   * read.
   */
  readonly readRecord: () => Promise<string | null>;
  /** A second look at the given ways; null when it was not answered. */
  readonly knock: (ways: readonly string[]) => Promise<Readonly<Record<string, Facts>> | null>;
}

type Connection = Awaited<ReturnType<typeof import('../../../drivers/ssh.ts').connectSsh>>;

const sentinel = 'hopdrill-sentinel';
const shell = `echo ${sentinel}; if [ "$(id -u)" = 0 ]; then exec perl - "$@"; fi; exec sudo -n -- perl - "$@"`;

const sshTarget = (request: Request) => ({
  host: text(request, 'node-host') ?? '',
  port: number(request, 'node-ssh-port', 22),
  user: text(request, 'node-user') ?? 'ubuntu',
  keyFile: text(request, 'ssh-key') ?? join(homedir(), '.ssh', 'id_ed25519'),
  knownHostsFile: text(request, 'known-hosts') ?? join(homedir(), '.ssh', 'known_hosts'),
  timeoutMs: sshSeconds * 1000,
});

export async function visitNode(
  request: Request,
  node: Promise<string>,
  policies: Promise<Policies>,
  correlationId: string,
  defer: (close: () => void) => void,
): Promise<Visit> {
  const began = performance.now();
  const target = sshTarget(request);
  const { host } = target;
  const failed = (error: unknown): Visit => ({
    ssh: { ok: false, ...sshCause(error) },
    host,
    connectMs: performance.now() - began,
    totalMs: performance.now() - began,
    sections: null,
    probeError: null,
    clockOffsetMs: null,
    clockErrorMs: 0,
    readRecord: async () => null,
    knock: async () => null,
  });
  let connection: Connection;
  try {
    const script = program('1-base', 'namespaces', 'knock', '2-agent', '3-dial', '4-sections');
    const { connectSsh } = await import('../../../drivers/ssh.ts');
    connection = await connectSsh(target);
    defer(() => connection.close());
    const connectMs = performance.now() - began;
    const values = await policies;
    const argv = probeArgv(request, await node, correlationId, values);
    const asked = performance.now();
    const askedAt = Date.now();
    const result = await connection.exec(['sh', '-c', shell, 'sh', ...argv], {
      stdin: await script,
      timeoutMs: visitSeconds(values) * 1000,
    });
    if (!result.stdout.startsWith(sentinel))
      return failed(
        Object.assign(new Error('the sentinel line did not come back'), {
          code: 'sentinel_missing',
        }),
      );
    const sections = parseFacts(result.stdout);
    const tookMs = performance.now() - asked;
    const startedAt = Number(sections.clock?.epoch_ms);
    const aliveMs = Number(sections.visit?.end ?? 0);
    // The probe read its clock `aliveMs` before it ended; what is left of the round trip is the
    // error.
    const slackMs = Math.max(0, tookMs - aliveMs);
    return {
      ssh: { ok: true },
      host,
      connectMs,
      totalMs: performance.now() - began,
      sections: sections.visit ? sections : null,
      probeError: sections.visit
        ? null
        : (result.stderr.trim().split('\n')[0] ?? `exit ${result.code ?? result.signal}`),
      clockOffsetMs: Number.isFinite(startedAt) ? startedAt - (askedAt + slackMs / 2) : null,
      clockErrorMs: slackMs / 2,
      readRecord: () => recordOf(connection),
      knock: (ways) => knocksOf(connection, sections.unit?.MainPID ?? '0', ways),
    };
  } catch (error) {
    return failed(error);
  }
}

/** What runs on the node, as one text. */
async function program(...parts: readonly string[]): Promise<string> {
  const texts = await Promise.all(
    parts.map((name) => readFile(new URL(`../node-visit/${name}.pl`, import.meta.url), 'utf8')),
  );
  return texts.join('');
}

async function recordOf(connection: Connection): Promise<string | null> {
  const path = '/var/lib/gpuaas/diagnostics/current.json';
  const read = await connection
    .exec(['sudo', '-n', '--', 'cat', path], { timeoutMs: sshSeconds * 1000 })
    .catch(() => null);
  return read?.code === 0 ? read.stdout : null;
}

async function knocksOf(
  connection: Connection,
  pid: string,
  ways: readonly string[],
): Promise<Record<string, Facts> | null> {
  const answer = await connection
    .exec(['sh', '-c', shell, 'sh', pid, ...ways], {
      stdin: await program('namespaces', 'knock', 'second-look'),
      timeoutMs: secondLookSeconds * 1000,
    })
    .catch(() => null);
  const facts = answer === null ? {} : parseFacts(answer.stdout);
  return Object.keys(facts).length === 0 ? null : facts;
}

function probeArgv(
  request: Request,
  node: string,
  correlationId: string,
  policies: Policies,
): string[] {
  return [
    text(request, 'agent-user') ?? 'gpuaas',
    text(request, 'agent-unit') ?? 'gpuaas-node-agent.service',
    node,
    correlationId,
    String(dialSeconds * 1000),
    String(terminalDialSeconds(policies) * 1000),
    String(stale(policies)),
    text(request, 'node-runtime-api-url') ?? '',
    text(request, 'node-runtime-resolve-address') ?? '',
    text(request, 'node-terminal-url') ?? '',
    text(request, 'node-terminal-resolve-address') ?? '',
  ];
}

/** Lines of `section <tab> key <tab> value`; a key that comes again is joined by a line break. */
export function parseFacts(output: string): Record<string, Facts> {
  const sections: Record<string, Record<string, string>> = {};
  for (const line of output.split('\n')) {
    const [name, key, ...rest] = line.split('\t');
    if (name === undefined || key === undefined || rest.length === 0) continue;
    const value = rest
      .join('\t')
      .replace(
        /\\([\\nrt])/g,
        (_, letter: string) => ({ '\\': '\\', n: '\n', r: '\r', t: '\t' })[letter] ?? letter,
      );
    sections[name] ??= {};
    const section = sections[name];
    section[key] = section[key] === undefined ? value : `${section[key]}\n${value}`;
  }
  return sections;
}

function sshCause(error: unknown): { cause: string; detail: string; ours: boolean } {
  const { code, message, cause } = error as {
    code?: string;
    message?: string;
    cause?: { code?: string };
  };
  const detail = message ?? String(error);
  const given = cause?.code ?? '';
  const of = (name: string, ours = false) => ({ cause: name, detail, ours });
  if (
    given === 'ENOENT' ||
    given === 'EACCES' ||
    code === 'unknown_host_key' ||
    code === 'ENOENT' ||
    code === 'EACCES'
  )
    return of('input_missing', true);
  if (code === 'sentinel_missing' || code === 'lost') return of('sentinel_missing');
  if (code === 'changed_host_key') return of('host_key_mismatch');
  if (code === 'auth') return of('auth_failed');
  if (code === 'refused') return of('tcp_refused');
  if (given === 'ENOTFOUND' || given === 'EAI_AGAIN') return of('dns_failed');
  if (given === 'EHOSTUNREACH' || given === 'ENETUNREACH') return of('no_route');
  if (code === 'timeout' || given === 'ETIMEDOUT' || /timed out|no answer/i.test(detail))
    return of('tcp_timeout');
  // Through a published port a dead sshd reads as a reset.
  if (given === 'ECONNRESET' || /reset|closed the connection|before handshake|ended/i.test(detail))
    return of('tcp_reset');
  return of('handshake_failed');
}
