// What one dial on the node means: from codes to a cause, and to the resource that it blames. Codes
// only, never messages.
import type { Step } from '../../../preflight/types.ts';
import { round } from './http.ts';
import { type Knocks, knocksIn, losesPackets } from './knocks.ts';
import type { Facts, Visit } from './visit.ts';

export interface Dial {
  readonly outcome: 'answered' | 'unreachable' | 'tls_failed';
  /** A verified server certificate arrived. */
  readonly verified: boolean;
  readonly phase: 'url' | 'dns' | 'tcp' | 'tls' | 'http';
  readonly cause: string | null;
  readonly blames: string | null;
  readonly url: string;
  readonly endpoint: string;
  readonly summary: string;
  readonly status: number | null;
  readonly product: string | null;
  readonly body: string;
  readonly asksForCertificate: boolean | null;
  /** The server wants a client certificate so much that it gave an alert instead of an answer. */
  readonly alert: number | null;
  readonly issuer: string | null;
  readonly tookMs: number;
  /** Only of a dial that was late. */
  readonly knocks: Knocks | null;
  readonly steps: readonly Step[];
}

const dnsByAnswer: readonly (readonly [RegExp, string])[] = [
  [/RCODE3/, 'dns_nxdomain'],
  [/RCODE2/, 'dns_servfail'],
  [/RCODE5/, 'dns_refused'],
  [/NOANSWER/, 'dns_timeout'],
  [/ECONNREFUSED/, 'dns_server_down'],
  [/RCODE0 answers=0/, 'dns_nodata'],
];
export const tcpCauses: Readonly<Record<string, string>> = {
  TIMEOUT: 'tcp_timeout',
  ETIMEDOUT: 'tcp_timeout',
  ECONNREFUSED: 'tcp_refused',
  ECONNRESET: 'tcp_reset',
  EHOSTUNREACH: 'host_unreachable',
  ENETUNREACH: 'no_route',
  EINVAL: 'no_route',
  EACCES: 'no_route',
  EMFILE: 'fd_exhausted',
  ENFILE: 'fd_exhausted',
};
const verifyCauses: Readonly<Record<string, string>> = {
  18: 'tls_self_signed',
  19: 'server_tls_untrusted',
  20: 'server_tls_untrusted',
  21: 'server_tls_untrusted',
  2: 'server_tls_untrusted',
  7: 'server_tls_untrusted',
  26: 'tls_wrong_usage',
  62: 'tls_name_mismatch',
  64: 'tls_name_mismatch',
  9: 'server_cert_not_yet_valid',
  10: 'server_cert_expired',
};

function dnsCause(facts: Facts): string {
  if (facts.code === 'TIMEOUT') return 'dns_timeout';
  if (facts.code === 'EAI_NODATA') return 'dns_nodata';
  const said = dnsByAnswer.find(([pattern]) => pattern.test(facts.resolver ?? ''))?.[1];
  if (facts.code === 'EAI_NONAME') return said === 'dns_nodata' ? said : 'dns_nxdomain';
  return said ?? 'dns_failed';
}

/**
 * The clock of the node, and of the agent on it, against ours; a difference that the measurement
 * could explain is none.
 */
function clockCause(cause: string, visit: Visit): string {
  const ofAgent = Number(visit.sections?.clock?.agent_offset_ms ?? 0);
  const offset = (visit.clockOffsetMs ?? 0) + ofAgent;
  if (Math.abs(offset) < 60_000 + visit.clockErrorMs) return cause;
  if (cause === 'server_cert_expired' && offset > 0) return 'clock_ahead';
  return cause === 'server_cert_not_yet_valid' && offset < 0 ? 'clock_behind' : cause;
}

function tlsVerdict(
  facts: Facts,
  visit: Visit,
): { outcome: Dial['outcome']; phase: Dial['phase']; cause: string | null } {
  const wrong = (outcome: Dial['outcome'], cause: string, phase: Dial['phase'] = 'tls') => ({
    outcome,
    phase,
    cause,
  });
  const number = (facts.verify_error ?? '').split(' ')[0] ?? '';
  if (number !== '')
    return wrong('tls_failed', clockCause(verifyCauses[number] ?? 'tls_failed', visit));
  if (facts.certificate === '1') {
    if (facts.status !== undefined || facts.alert !== undefined)
      return { outcome: 'answered', phase: 'http', cause: null };
    return wrong('unreachable', facts.ended === '1' ? 'http_reset' : 'app_stall', 'http');
  }
  if (facts.ca_readable === '0') return wrong('tls_failed', 'bundle_missing');
  if (facts.alert === '70' || /unsupported protocol|version too low/.test(facts.openssl ?? ''))
    return wrong('tls_failed', 'tls_version');
  if (/wrong version number|packet length too long/.test(facts.openssl ?? ''))
    return wrong('unreachable', 'tls_to_plain');
  return wrong('unreachable', facts.ended === '1' ? 'tls_reset' : 'tls_stall');
}

const trustCauses = new Set(['server_tls_untrusted', 'tls_self_signed', 'bundle_missing']);

export function readDial(visit: Visit, name: string, link: string): Dial | null {
  const base = visit.sections?.[name];
  if (!base?.phase) return null;
  return interpret(base, visit, link);
}

/** The dial repeated with the node's certificate; null when there was nothing to present. */
export function readCertificateDial(visit: Visit, name: string, link: string): Dial | null {
  const base = visit.sections?.[name];
  const repeated = visit.sections?.[`${name}-cert`];
  if (!base?.phase || repeated?.ended === undefined || repeated.identity === 'unusable')
    return null;
  return interpret(
    {
      url: base.url ?? '',
      endpoint: base.endpoint ?? '',
      phase: 'tls',
      ca_readable: base.ca_readable ?? '',
      start: base.start ?? '0',
      dns_at: base.dns_at ?? '0',
      tcp_at: base.tcp_at ?? '0',
      addresses: base.addresses ?? '',
      ...repeated,
    },
    visit,
    link,
  );
}

function interpret(facts: Facts, visit: Visit, link: string): Dial {
  const code = (facts.code ?? '').split('\n').at(-1) ?? '';
  const verdict =
    facts.phase === 'url'
      ? { outcome: 'unreachable' as const, phase: 'url' as const, cause: 'url_invalid' }
      : facts.phase === 'dns'
        ? { outcome: 'unreachable' as const, phase: 'dns' as const, cause: dnsCause(facts) }
        : facts.phase === 'tcp'
          ? {
              outcome: 'unreachable' as const,
              phase: 'tcp' as const,
              cause: tcpCauses[code] ?? 'tcp_timeout',
            }
          : tlsVerdict(facts, visit);
  const { phase } = verdict;
  const cause = causeOfSlowness(verdict.cause, facts) ?? verdict.cause;
  const blames =
    cause === null
      ? null
      : phase === 'dns'
        ? 'resolver'
        : trustCauses.has(cause)
          ? 'file:ca-bundle'
          : cause.startsWith('clock_')
            ? 'clock'
            : link;
  return {
    ...verdict,
    cause,
    verified: facts.certificate === '1' && (facts.verify_error ?? '') === '',
    blames,
    url: facts.url ?? '',
    endpoint: facts.endpoint ?? '',
    summary: summaryOf(facts, cause),
    status: facts.status === undefined ? null : Number(facts.status),
    product: facts['h:x-gpuaas-product'] ?? null,
    body: facts.body ?? '',
    asksForCertificate:
      facts.asks_for_certificate === undefined ? null : facts.asks_for_certificate === '1',
    alert: facts.alert === undefined ? null : Number(facts.alert),
    issuer: facts.issuer ?? null,
    tookMs: Number(facts.done ?? facts.tcp_at ?? 0) - Number(facts.start ?? 0),
    knocks: knocksIn(facts),
    steps: stepsOf(facts, cause),
  };
}

/** Nothing came in time, or it broke off: so look ways that are slow or lose packets. */
export const silence: ReadonlySet<string> = new Set([
  'tcp_timeout',
  'tls_stall',
  'tls_reset',
  'app_stall',
  'http_reset',
]);
/** A certificate that took so long came over a slow way, and the answer would have as well. */
const slowCertificateMs = 1000;

/** The way is there, and loses packets or is slow. */
function causeOfSlowness(cause: string | null, facts: Facts): string | null {
  if (cause === null || !silence.has(cause)) return null;
  if (losesPackets(knocksIn(facts))) return 'packet_loss';
  const certificateMs = Number(facts.tls_at) - Number(facts.tcp_at);
  return facts.certificate === '1' && certificateMs > slowCertificateMs ? 'slow_link' : null;
}

function summaryOf(facts: Facts, cause: string | null): string {
  const where = facts.addresses
    ? `${facts.endpoint} (${facts.addresses})`
    : (facts.endpoint ?? facts.url ?? '?');
  if (cause !== null)
    return `${where}: ${cause}${facts.resolver ? ` (${facts.resolver})` : ''}${facts.issuer ? ` issuer ${facts.issuer}` : ''}`;
  return `${where}: tcp and tls ok, ${facts.status ? `answer ${facts.status}` : `TLS alert ${facts.alert}`}`;
}

function stepsOf(facts: Facts, cause: string | null): Step[] {
  let before = Number(facts.start ?? 0);
  return [
    ['dns', facts.dns_at],
    ['tcp', facts.tcp_at],
    ['tls', facts.tls_at],
    ['http', facts.done],
  ].flatMap(([phase, end]) => {
    const finished = Number(end);
    if (!phase || !end || !Number.isFinite(finished)) return [];
    const failed = facts.phase === phase && cause !== null;
    const step: Step = {
      phase,
      start_ms: round(before),
      duration_ms: round(finished - before),
      code: failed ? cause : null,
      raw: failed ? (facts.code ?? facts.openssl ?? facts.resolver ?? null) : null,
    };
    before = finished;
    return [step];
  });
}

/**
 * Every private target fails while connecting: it is the node's own network, not one of its links.
 */
export function blamedLink(visit: Visit, own: Dial): string | null {
  if (own.phase !== 'tcp') return own.blames;
  const others = [readDial(visit, 'api', ''), readDial(visit, 'term', '')];
  const recovery = visit.sections?.recovery?.code ?? '';
  const all =
    others.every((dial) => dial?.phase === 'tcp' && dial.outcome === 'unreachable') &&
    /^tcp (?!ok)/.test(recovery);
  return all ? 'link:node' : own.blames;
}
