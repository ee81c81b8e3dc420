// The agent against real TLS listeners: what it makes of each failure, and that it comes back.
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { makeAuthority } from '../../../fixtures/gpuaas/pki/authority.ts';
import { AgentBench, type DiagnosticRecord, until } from './fixtures-agent-setup.ts';

let bench: AgentBench;
beforeEach(async () => {
  bench = await AgentBench.make();
});
afterEach(() => bench.close());

describe('identity', () => {
  test('enrols by itself, then polls with the headers of the contract', async () => {
    bench.start();
    await bench.polled(2);
    expect(bench.platform.enrolments).toBe(1);
    const headers = bench.platform.polls[0]?.headers ?? {};
    expect(headers['x-agent-cert-not-after']).toMatch(/^\d{4}-/);
    expect(headers['x-agent-api-url']).toBe(`https://localhost:${bench.platform.ports.api}`);
    expect(Number(headers['x-agent-root-used-percent'])).toBeGreaterThanOrEqual(0);
    await until(() => expect(bench.current()).toBeNull());
    expect(bench.record().counters).toMatchObject({ recovery_attempts: 1, recovery_successes: 1 });
  });

  test('an expired certificate heals by itself with a token', async () => {
    await bench.giveCertificate({ from: Date.now() - 20_000, to: Date.now() - 10_000 });
    bench.start();
    await bench.polled(1);
    expect(bench.record().history.map((entry) => entry.reason)).toContain('cert_expired');
  });

  test('an expired certificate without a token says recovery_token_missing', async () => {
    await bench.giveCertificate({ from: Date.now() - 20_000, to: Date.now() - 10_000 });
    bench.start({ GPUAAS_ENROLLMENT_TOKEN: '' });
    await until(() =>
      expect(bench.current()).toMatchObject({
        reason: 'recovery_token_missing',
        code: 'cert_expired',
      }),
    );
    expect(bench.platform.enrolments).toBe(0);
  });

  test('a token that the platform refuses is no token', async () => {
    bench.start({ GPUAAS_ENROLLMENT_TOKEN: 'stale' });
    await until(() =>
      expect(bench.current()).toMatchObject({
        reason: 'recovery_token_missing',
        code: 'recovery_token_invalid',
      }),
    );
  });

  test('a fresh certificate that is refused again ends the enrolling, not the polling', async () => {
    bench.platform.trusts = () => false;
    bench.start();
    await until(() =>
      expect(bench.current()).toMatchObject({
        reason: 'cert_untrusted_by_ingress',
        code: 'client_cert_rejected',
      }),
    );
    await until(() => expect(bench.record().counters.recovery_suppressed).toBeGreaterThan(2));
    expect(bench.platform.enrolments).toBe(1);
    bench.platform.trusts = () => true;
    await bench.polled(1);
    await until(() => expect(bench.current()).toBeNull());
  });

  test('asks for no certificate that it could not keep, and heals when it can', async () => {
    bench.start({ GPUAAS_CERT_PATH: bench.at('absent/cert.pem') });
    await until(() =>
      expect(bench.current()).toMatchObject({
        reason: 'recovery_enrollment_blocked',
        phase: 'app',
        code: 'ENOENT',
      }),
    );
    await until(() => expect(bench.record().counters.recovery_suppressed).toBeGreaterThan(2));
    expect(bench.platform.enrolments).toBe(0);
    mkdirSync(bench.at('absent'));
    await bench.polled(1);
    expect(bench.platform.enrolments).toBe(1);
    expect(readdirSync(bench.at('absent'))).toEqual(['cert.pem']);
  });

  test('certificates that are lost before their first poll end the enrolling too', async () => {
    let lost = 0;
    bench.platform.trusts = () => {
      rmSync(bench.at('cert.pem'), { force: true });
      lost += 1;
      return false;
    };
    bench.start();
    await until(() =>
      expect(bench.current()).toMatchObject({
        reason: 'recovery_enrollment_blocked',
        code: 'certificates_lost',
      }),
    );
    await until(() => expect(bench.record().counters.recovery_suppressed).toBeGreaterThan(2));
    expect([lost, bench.platform.enrolments]).toEqual([3, 3]);
    bench.platform.trusts = () => true;
    await bench.giveCertificate();
    await bench.polled(1);
    await until(() => expect(bench.current()).toBeNull());
  });

  test('renews after two thirds of its life', async () => {
    await bench.giveCertificate({ from: Date.now() - 3000_000, to: Date.now() + 600_000 });
    const before = readFileSync(bench.at('cert.pem'), 'utf8');
    bench.start();
    await bench.polled(1);
    expect(readFileSync(bench.at('cert.pem'), 'utf8')).not.toBe(before);
    expect(readFileSync(bench.at('cert.pem.previous'), 'utf8')).toBe(before);
    expect(bench.platform.enrolments).toBe(0);
  });

  test('a copy of its disk is another process of the same machine', async () => {
    bench.start();
    await bench.polled(2);
    await bench.end();
    const before = bench.platform.polls.length;
    bench.start();
    await bench.polled(before + 2);
    const seen = [
      ...new Set(bench.platform.polls.map((poll) => String(poll.headers['x-agent-instance']))),
    ];
    const machine = readFileSync(bench.at('instance-id'), 'utf8').trim();
    expect(seen).toEqual([
      expect.stringContaining(`${machine}.`),
      expect.stringContaining(`${machine}.`),
    ]);
  });

  test('a certificate changed on disk is used by the next poll', async () => {
    await bench.giveCertificate();
    bench.start();
    await bench.polled(1);
    await bench.giveCertificate();
    await until(() =>
      expect(new Set(bench.platform.polls.map((poll) => poll.serial)).size).toBe(2),
    );
    expect(bench.current()).toBeNull();
  });
});

describe('what a failed poll is called', () => {
  const cases = {
    'a name that does not resolve': [
      { GPUAAS_API_URL: 'https://nowhere.invalid' },
      { reason: 'task_poll_failed', phase: 'dns' },
    ],
    'a port where nobody listens': [
      { GPUAAS_API_URL: 'https://localhost:1' },
      { reason: 'task_poll_failed', phase: 'tcp', code: 'ECONNREFUSED' },
    ],
  } as const;
  test.each(Object.entries(cases))('%s', async (_name, [env, expected]) => {
    await bench.giveCertificate();
    bench.start(env);
    await until(() => expect(bench.current()).toMatchObject(expected));
  });

  test('a stale trust bundle is server_tls_untrusted, and is felt without a restart', async () => {
    bench.start();
    await bench.polled(1);
    writeFileSync(bench.at('ca.crt'), (await makeAuthority('Service CA')).certificate);
    await until(() =>
      expect(bench.current()).toMatchObject({ reason: 'server_tls_untrusted', phase: 'tls' }),
    );
    writeFileSync(bench.at('ca.crt'), bench.platform.serviceCa.certificate);
    await until(() => expect(bench.current()).toBeNull());
    await until(() =>
      expect(bench.platform.posts.some((post) => post.path === '/diagnostics')).toBe(true),
    );
    const history = bench.platform.posts
      .filter((post) => post.path === '/diagnostics')
      .flatMap((post) => (post.body as unknown as DiagnosticRecord).history);
    expect(history.map((entry) => entry.reason)).toContain('server_tls_untrusted');
  });

  test('revoked by a listener that asked for a certificate', async () => {
    bench.platform.refuse = (_path, response) => {
      bench.platform.answer(response, 403, {
        error: { code: 'node_identity_revoked', message: 'node identity revoked' },
      });
      return true;
    };
    await bench.giveCertificate();
    bench.start();
    await until(() =>
      expect(bench.current()).toMatchObject({
        reason: 'identity_revoked',
        code: 'node_identity_revoked',
      }),
    );
    expect(bench.platform.enrolments).toBe(0);
  });

  test('revoked by a listener that asked for none is the wrong host', async () => {
    await bench.giveCertificate();
    bench.start({ GPUAAS_API_URL: `https://localhost:${bench.platform.ports.edge}` });
    await until(() =>
      expect(bench.current()).toMatchObject({
        reason: 'endpoint_profile_drift',
        code: 'node_identity_revoked',
      }),
    );
    expect(bench.platform.enrolments).toBe(0);
  });

  test('429 makes polling slow', async () => {
    await bench.giveCertificate();
    let asked = 0;
    bench.platform.refuse = (_path, response) => {
      asked += 1;
      bench.platform.answer(response, 429, 'slow down', null);
      return true;
    };
    bench.start();
    await until(() => expect(bench.current()).toMatchObject({ reason: 'edge_rate_limited' }));
    await new Promise((resolve) => setTimeout(resolve, 500));
    expect(asked).toBe(1);
  });
});

test('stops within three seconds while a poll is parked', async () => {
  bench.start({ GPUAAS_POLL_WINDOW_SECONDS: '30' });
  await bench.polled(1);
  const before = Date.now();
  await bench.end();
  expect(Date.now() - before).toBeLessThan(3000);
});
