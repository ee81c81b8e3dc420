// One agent in this process against the small platform, with files of its own; used by the agent's
// tests.
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, vi } from 'vitest';
import { runAgent } from '../../../fixtures/gpuaas/node-agent/agent.ts';
import { makeCertificateRequest } from '../../../fixtures/gpuaas/node-agent/csr.ts';
import { readSettings } from '../../../fixtures/gpuaas/node-agent/settings.ts';
import { issueNode, MiniPlatform } from './fixtures-agent-platform.ts';

export interface DiagnosticRecord {
  readonly current: { reason: string; phase: string; code: string; count: number } | null;
  readonly history: { reason: string; phase: string; code: string }[];
  readonly counters: Record<string, number>;
}

export const until = (check: () => void) => vi.waitFor(check, { timeout: 8000, interval: 20 });

export class AgentBench {
  readonly platform: MiniPlatform;
  readonly #folder = mkdtempSync(join(tmpdir(), 'agent-'));
  #stop: AbortController | null = null;
  #running: Promise<void> = Promise.resolve();

  private constructor(platform: MiniPlatform) {
    this.platform = platform;
    for (const name of ['results', 'tasks', 'sessions', 'diagnostics']) mkdirSync(this.at(name));
    for (const name of ['ca.crt', 'recovery-ca.crt'])
      writeFileSync(this.at(name), platform.serviceCa.certificate);
  }

  static async make(): Promise<AgentBench> {
    vi.spyOn(process.stdout, 'write').mockReturnValue(true);
    return new AgentBench(await MiniPlatform.start());
  }

  readonly at = (name: string): string => join(this.#folder, name);
  readonly record = (): DiagnosticRecord =>
    JSON.parse(readFileSync(this.at('diagnostics/current.json'), 'utf8')) as DiagnosticRecord;
  readonly current = (): DiagnosticRecord['current'] => this.record().current;
  readonly polled = (count: number) =>
    until(() => expect(this.platform.polls.length).toBeGreaterThanOrEqual(count));

  start(env: Record<string, string> = {}): void {
    const { ports, token, verifiers } = this.platform;
    this.#stop = new AbortController();
    const settings = readSettings({
      GPUAAS_NODE_ID: 'node-1',
      GPUAAS_API_URL: `https://localhost:${ports.api}`,
      GPUAAS_TERMINAL_API_URL: `https://localhost:${ports.term}`,
      GPUAAS_RECOVERY_API_URL: `https://localhost:${ports.recovery}`,
      GPUAAS_CA_BUNDLE_PATH: this.at('ca.crt'),
      GPUAAS_RECOVERY_CA_BUNDLE_PATH: this.at('recovery-ca.crt'),
      GPUAAS_CERT_PATH: this.at('cert.pem'),
      GPUAAS_KEY_PATH: this.at('key.pem'),
      GPUAAS_ENROLLMENT_TOKEN: token,
      GPUAAS_TASK_SIGNING_PUBKEYS: verifiers,
      GPUAAS_POLL_WINDOW_SECONDS: '0.2',
      GPUAAS_RETRY_BACKOFF_MAX_SECONDS: '0.1',
      GPUAAS_RATE_LIMITED_POLL_SECONDS: '0.6',
      STATE_DIRECTORY: this.#folder,
      ...env,
    });
    this.#running = runAgent(settings, this.#stop.signal);
  }

  async end(): Promise<void> {
    this.#stop?.abort();
    await this.#running;
  }

  async giveCertificate(life: { from?: number; to?: number } = {}): Promise<void> {
    const { key, csr } = await makeCertificateRequest('node-1');
    writeFileSync(this.at('cert.pem'), await issueNode(this.platform.nodeCa, 'node-1', csr, life));
    writeFileSync(this.at('key.pem'), key);
  }

  async close(): Promise<void> {
    await this.end();
    await this.platform.stop();
    rmSync(this.#folder, { recursive: true, force: true });
    vi.restoreAllMocks();
  }
}
