// The machines of a stack as an operator reaches them: docker exec, SSH, their logs and the files
// of the profile.
import { readFileSync } from 'node:fs';
import { execa } from 'execa';
import { type DriverCode, DriverError } from '../../../harness/drivers/errors.ts';
import { connectSsh } from '../../../harness/drivers/ssh.ts';
import type { Profile } from '../../../harness/records/profile.ts';
import { loadProfile } from '../../../harness/stack/state.ts';

// biome-ignore lint/suspicious/noExplicitAny: what the platform answers is asked field by field
export type Json = any;

interface Ran {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

const keptOut: ReadonlySet<DriverCode> = new Set([
  'refused',
  'unreachable',
  'auth',
  'timeout',
  'lost',
] as const);

export class Machines {
  readonly profile: Profile;

  constructor(stack = process.env.HOPDRILL_STACK) {
    if (!stack)
      throw new Error(
        'HOPDRILL_STACK names no stack; bring one up with `hopdrill up --stack NAME`',
      );
    this.profile = loadProfile(stack);
  }

  secret(file: string | undefined): string {
    if (!file) throw new Error('the profile names no such file');
    return readFileSync(file, 'utf8').trim();
  }

  container(name: string): string {
    const node = this.profile.nodes[name];
    if (node?.lifeline.kind === 'docker') return node.lifeline.container;
    const part = this.profile.parts[name];
    if (!part) throw new Error(`the profile has no part ${name}`);
    return part.container;
  }
  async docker(...argv: string[]): Promise<Ran> {
    const ran = await execa('docker', argv, { reject: false, timeout: 30_000, stdin: 'ignore' });
    return { code: ran.exitCode ?? 255, out: ran.stdout, err: ran.stderr };
  }
  /** A line of shell inside a container, as root: what an operator would type. */
  async inside(name: string, line: string): Promise<Ran> {
    return this.docker('exec', '-u', '0', this.container(name), 'sh', '-c', line);
  }
  /** The same that has to succeed. */
  async must(name: string, line: string): Promise<string> {
    const ran = await this.inside(name, line);
    if (ran.code !== 0)
      throw new Error(`${name}: \`${line}\` ended with ${ran.code}: ${ran.err || ran.out}`);
    return ran.out;
  }
  /**
   * 255 is for "did not let us in", as OpenSSH has it; a key that is missing on this side says
   * nothing about the node.
   */
  async ssh(node: string, line: string): Promise<Ran> {
    const at = this.profile.nodes[node]?.ssh;
    if (!at) throw new Error(`no SSH of node ${node}`);
    try {
      const connection = await connectSsh(at);
      const ran = await connection.exec(['sh', '-c', line]).finally(() => connection.close());
      return { code: ran.code ?? 255, out: ran.stdout, err: ran.stderr };
    } catch (error) {
      if (!(error instanceof DriverError) || !keptOut.has(error.code)) throw error;
      return { code: 255, out: '', err: error.message };
    }
  }

  async journal(node: string, since: Date): Promise<string> {
    const epoch = (since.getTime() / 1000).toFixed(3);
    return (
      await this.inside(node, `journalctl -u gpuaas-node-agent --since=@${epoch} -o cat --no-pager`)
    ).out;
  }
  async systemdNotes(node: string, since: Date): Promise<string> {
    const epoch = (since.getTime() / 1000).toFixed(3);
    return (
      await this.inside(
        node,
        `journalctl _PID=1 -u gpuaas-node-agent --since=@${epoch} -o cat --no-pager`,
      )
    ).out;
  }
  async diagnostic(node: string): Promise<Json> {
    const ran = await this.inside(node, 'cat /var/lib/gpuaas/diagnostics/current.json');
    return ran.code === 0 ? JSON.parse(ran.out) : null;
  }
  async log(part: string, since: Date): Promise<string> {
    const ran = await this.docker('logs', '--since', since.toISOString(), this.container(part));
    return `${ran.out}\n${ran.err}`;
  }
}
