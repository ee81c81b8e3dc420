// The reading of what a node says against recorded lines.
import { describe, expect, it } from 'vitest';
import { readCertificateDial, readDial } from '../../../harness/systems/gpuaas/probe/dial.ts';
import { unitState } from '../../../harness/systems/gpuaas/probe/unit.ts';
import { parseFacts, type Visit } from '../../../harness/systems/gpuaas/probe/visit.ts';

const visitOf = (lines: string, clockOffsetMs = 0): Visit => ({
  ssh: { ok: true },
  host: 'n',
  connectMs: 1,
  totalMs: 2,
  probeError: null,
  clockOffsetMs,
  clockErrorMs: 5,
  readRecord: async () => null,
  knock: async () => ({}),
  sections: parseFacts(lines.replaceAll('|', '\t')),
});
const dialOf = (lines: string, clockOffsetMs = 0) =>
  readDial(visitOf(lines, clockOffsetMs), 'api', 'link:node-api');

describe('what a dial means', () => {
  const at = 'api|url|https://a:443\napi|endpoint|a:443\napi|start|0\n';
  const tls = `${at}api|addresses|10.0.0.1\napi|phase|tls\napi|ca_readable|1\n`;
  const cases: readonly (readonly [string, string, string, string | null, string | null])[] = [
    [
      'no such name',
      `${at}api|phase|dns\napi|code|EAI_NONAME\napi|resolver|10.0.0.53 RCODE3 answers=0`,
      'unreachable',
      'dns_nxdomain',
      'resolver',
    ],
    [
      'a name without an address',
      `${at}api|phase|dns\napi|code|EAI_NODATA`,
      'unreachable',
      'dns_nodata',
      'resolver',
    ],
    [
      'a resolver that cannot',
      `${at}api|phase|dns\napi|code|EAI_AGAIN\napi|resolver|10.0.0.53 RCODE2 answers=0`,
      'unreachable',
      'dns_servfail',
      'resolver',
    ],
    [
      'a resolver that will not',
      `${at}api|phase|dns\napi|code|EAI_AGAIN\napi|resolver|10.0.0.53 RCODE5 answers=0`,
      'unreachable',
      'dns_refused',
      'resolver',
    ],
    [
      'a resolver that is down',
      `${at}api|phase|dns\napi|code|EAI_AGAIN\napi|resolver|10.0.0.53 ECONNREFUSED`,
      'unreachable',
      'dns_server_down',
      'resolver',
    ],
    [
      'a resolver that is silent',
      `${at}api|phase|dns\napi|code|TIMEOUT\napi|resolver|10.0.0.53 NOANSWER`,
      'unreachable',
      'dns_timeout',
      'resolver',
    ],
    [
      'a dropped SYN',
      `${at}api|phase|tcp\napi|code|TIMEOUT`,
      'unreachable',
      'tcp_timeout',
      'link:node-api',
    ],
    [
      'a closed port',
      `${at}api|phase|tcp\napi|code|ECONNREFUSED`,
      'unreachable',
      'tcp_refused',
      'link:node-api',
    ],
    [
      'two addresses, both dead',
      `${at}api|phase|tcp\napi|code|TIMEOUT\napi|code|ECONNREFUSED`,
      'unreachable',
      'tcp_refused',
      'link:node-api',
    ],
    [
      'no certificate, and silence',
      `${tls}api|certificate|0\napi|ended|0\napi|verify_error|`,
      'unreachable',
      'tls_stall',
      'link:node-api',
    ],
    [
      'no certificate, and the end',
      `${tls}api|certificate|0\napi|ended|1\napi|verify_error|`,
      'unreachable',
      'tls_reset',
      'link:node-api',
    ],
    [
      'plain HTTP on the port',
      `${tls}api|certificate|0\napi|ended|1\napi|openssl|0A00010B wrong version number`,
      'unreachable',
      'tls_to_plain',
      'link:node-api',
    ],
    [
      'an issuer that the bundle does not know',
      `${tls}api|certificate|1\napi|ended|1\napi|verify_error|20`,
      'tls_failed',
      'server_tls_untrusted',
      'file:ca-bundle',
    ],
    [
      'a bundle that cannot be read',
      `${tls.replace('ca_readable|1', 'ca_readable|0')}api|certificate|0\napi|ended|1`,
      'tls_failed',
      'bundle_missing',
      'file:ca-bundle',
    ],
    [
      'another name',
      `${tls}api|certificate|1\napi|ended|1\napi|verify_error|62`,
      'tls_failed',
      'tls_name_mismatch',
      'link:node-api',
    ],
    [
      'an expired certificate',
      `${tls}api|certificate|1\napi|ended|1\napi|verify_error|10`,
      'tls_failed',
      'server_cert_expired',
      'link:node-api',
    ],
    [
      'a verified server without an answer',
      `${tls}api|certificate|1\napi|ended|0\napi|verify_error|`,
      'unreachable',
      'app_stall',
      'link:node-api',
    ],
    [
      'an answer',
      `${tls}api|certificate|1\napi|ended|0\napi|verify_error|\napi|status|400`,
      'answered',
      null,
      null,
    ],
    [
      'an alert that asks for a certificate',
      `${tls}api|certificate|1\napi|ended|1\napi|verify_error|\napi|alert|116`,
      'answered',
      null,
      null,
    ],
  ];
  for (const [title, lines, outcome, cause, blames] of cases) {
    it(title, () => expect(dialOf(lines)).toMatchObject({ outcome, cause, blames }));
  }

  it('an expired certificate is the clock when the clock is days ahead', () => {
    expect(
      dialOf(`${tls}api|certificate|1\napi|ended|1\napi|verify_error|10`, 8 * 86_400_000),
    ).toMatchObject({
      cause: 'clock_ahead',
      blames: 'clock',
    });
    expect(
      dialOf(`${tls}api|certificate|1\napi|ended|1\napi|verify_error|9`, -8 * 86_400_000),
    ).toMatchObject({
      cause: 'clock_behind',
      blames: 'clock',
    });
  });

  it('the dial with the certificate is its own, and missing when there was none to show', () => {
    const lines = `${tls}api|certificate|1\napi|ended|0\napi|status|400\napi-cert|ended|0\napi-cert|certificate|1\napi-cert|status|200\napi-cert|h:x-gpuaas-product|api`;
    expect(readCertificateDial(visitOf(lines), 'api', 'link:node-api')).toMatchObject({
      status: 200,
      product: 'api',
    });
    expect(readCertificateDial(visitOf(tls), 'api', 'link:node-api')).toBeNull();
  });
});

describe('what the unit says', () => {
  const unit = (active: string, sub: string, more = '') =>
    unitState(
      visitOf(
        `unit|ActiveState|${active}\nunit|SubState|${sub}\nunit|NRestarts|0\nunit|up_s|3\n${more}`,
      ),
      {},
    );
  it('running, stopped, failed', () => {
    expect(unit('active', 'running').kind).toBe('running');
    expect(unit('inactive', 'dead').kind).toBe('stopped');
    expect(unit('failed', 'failed')).toMatchObject({ kind: 'failed', cause: 'unit_failed' });
  });
  it('one crash is no loop, two are', () => {
    expect(
      unit(
        'activating',
        'auto-restart',
        'again|ActiveState|active\nagain|SubState|running\nagain|NRestarts|1',
      ).kind,
    ).toBe('starting');
    expect(
      unit(
        'activating',
        'auto-restart',
        'again|ActiveState|activating\nagain|SubState|auto-restart\nagain|NRestarts|1',
      ),
    ).toMatchObject({ cause: 'restart_loop' });
  });
  it('a binary that cannot be executed, a key that cannot be read', () => {
    expect(unit('activating', 'auto-restart', 'unit|ExecMainStatus|203')).toMatchObject({
      kind: 'not_executable',
      cause: 'exec_format',
    });
    const later =
      'again|ActiveState|activating\nagain|SubState|auto-restart\nagain|NRestarts|4\nagain|ExecMainStatus|203';
    expect(unit('active', 'running', later)).toMatchObject({
      kind: 'not_executable',
      cause: 'exec_format',
    });
    expect(unit('activating', 'auto-restart', 'files|key|EACCES')).toMatchObject({
      kind: 'failed',
      cause: 'key_unreadable',
    });
  });
});

describe('lines of a visit', () => {
  it('keep line breaks, tabs and repeated keys', () => {
    expect(
      parseFacts('hopdrill-sentinel\na\tk\tone\\ntwo\\t\\\\n\na\tr\t1\na\tr\t2\nnoise'),
    ).toEqual({
      a: { k: 'one\ntwo\t\\n', r: '1\n2' },
    });
  });
});
