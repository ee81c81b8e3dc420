import type { Evidence, Finding, HopDeclaration } from '../../../preflight/types.ts';
import { text } from '../flags.ts';
import { publicSeconds, visitSeconds } from '../policies.ts';
import { type Dial, readCertificateDial, readDial } from '../probe/dial.ts';
import { at, evidence, granted, str } from '../probe/http.ts';
import { drift, withoutNode } from '../probe/node-context.ts';
import { type ReadModel, readModel } from '../probe/read-model.ts';
import { currentReason, localRecord } from '../probe/record.ts';
import { hasOperator, type Session } from '../probe/session.ts';
import type { Visit } from '../probe/visit.ts';
import { agentOffset, withWord } from '../probe/word.ts';

/**
 * Operator reasons of the read model that speak of identity, profile or trust. The others belong to
 * other hops.
 */
const operatorReasons = [
  'cert_expired',
  'cert_untrusted_by_ingress',
  'endpoint_profile_drift',
  'recovery_token_missing',
  'identity_revoked_or_fenced',
  'cloned_identity_detected',
];

interface Known {
  readonly model: ReadModel | null;
  readonly visit: Visit | null;
  readonly dial: Dial | null;
  readonly withoutCertificate: Dial | null;
  readonly drifted: { effective: string; declared: string } | null;
  readonly local: string | null;
  readonly node: string;
}

/** The certificate by itself, before anybody was asked, at the time that the agent believes it is. */
function localIdentity({ visit, node }: Known): string | null {
  const self = visit?.sections?.env?.GPUAAS_NODE_ID;
  if (self !== undefined && node !== 'unknown' && self !== node) return 'identity_mismatch';
  const files = visit?.sections?.files;
  if (!files) return null;
  if (files.cert === 'ENOENT' || files.key === 'ENOENT') return 'cert_missing';
  if (files.pair === 'mismatch') return 'key_mismatch';
  if (files.cert === 'ok' && files.pair === 'no certificate') return 'cert_unparsable';
  const ofNode = Number(visit?.sections?.clock?.epoch_ms);
  const now = ofNode + (visit === null ? 0 : (agentOffset(visit) ?? 0));
  const ours = ofNode - (visit?.clockOffsetMs ?? 0);
  const end = Date.parse(/^notAfter=(.*)$/m.exec(files.certificate ?? '')?.[1] ?? '');
  const begin = Date.parse(/^notBefore=(.*)$/m.exec(files.certificate ?? '')?.[1] ?? '');
  if (Number.isFinite(end) && now > end) return ours > end ? 'cert_expired' : 'clock_ahead';
  if (Number.isFinite(begin) && now < begin)
    return ours < begin ? 'cert_not_yet_valid' : 'clock_behind';
  return null;
}

const rateLimited = (dial: Dial | null): boolean =>
  dial?.status === 429 || /rate_limit_exceeded/.test(dial?.body ?? '');

/**
 * A refusal over HTTP, with the certificate shown. Without the header of the product nobody was
 * revoked.
 */
function refusal(known: Known): string | null {
  const { dial } = known;
  if (dial?.outcome !== 'answered' || dial.status === null || dial.status < 400)
    return dial?.outcome === 'answered' && dial.alert !== null ? 'cert_untrusted_by_ingress' : null;
  const code = errorCodeOf(dial.body);
  if (dial.product === 'api') {
    if (code === 'node_identity_mismatch') return 'identity_mismatch';
    if (code !== 'node_identity_revoked')
      return dial.status === 401 || dial.status === 403 ? 'auth_refused' : null;
    return known.drifted !== null || dial.asksForCertificate === false
      ? 'endpoint_profile_drift'
      : 'identity_revoked_or_fenced';
  }
  if (dial.status === 400 && /SSL certificate/i.test(dial.body)) return 'cert_untrusted_by_ingress';
  return dial.status < 500 ? 'endpoint_profile_drift' : null;
}

const errorCodeOf = (body: string): string | null => {
  try {
    return str(at(JSON.parse(body), 'error', 'code'));
  } catch {
    return null;
  }
};

/** An unusable certificate is bad; one that cannot be replaced is what an operator must know. */
const enrolsNoMore = ({ local, visit }: Known): boolean =>
  local === 'recovery_token_missing' || visit?.sections?.env?.has_token === '0';

/**
 * What the platform has classified is finer than what one probe sees; what the files say is finer
 * than a refusal.
 */
function causeOf(known: Known): { cause: string; by: string } | null {
  const { model } = known;
  if (
    rateLimited(known.dial) ||
    rateLimited(known.withoutCertificate) ||
    known.local === 'edge_rate_limited'
  )
    return { cause: 'edge_rate_limited', by: 'probe or local record' };
  const refused = refusal(known);
  const identity = localIdentity(known);
  // What the platform sees of these is only what the agent makes of its certificates.
  if (identity?.startsWith('clock_')) return { cause: identity, by: 'clock of the agent' };
  if (identity === 'identity_mismatch') return { cause: identity, by: 'environment of the agent' };
  const served =
    known.dial?.outcome === 'answered' && known.dial.status !== null && known.dial.status < 400;
  if (
    model?.reason &&
    operatorReasons.includes(model.reason) &&
    !(served && model.reason !== 'cloned_identity_detected')
  )
    return { cause: model.reason, by: 'read model' };
  if (identity)
    return {
      cause: enrolsNoMore(known) ? 'recovery_token_missing' : identity,
      by: 'files on the node',
    };
  return refused ? { cause: refused, by: 'answer to the certificate' } : null;
}

async function gather(session: Session): Promise<Known> {
  const { request } = session;
  const asksApi = text(request, 'api-base') !== undefined && hasOperator(request);
  const [visit, answer, profile, node] = await Promise.all([
    text(request, 'node-host') === undefined ? null : session.visit(),
    asksApi ? session.node() : null,
    asksApi ? session.profile() : null,
    session.nodeId(),
  ]);
  const model = answer ? readModel(answer) : null;
  const declared =
    text(request, 'node-runtime-api-url') ??
    (profile && granted(profile) ? str(at(profile.json, 'node_api_url')) : null) ??
    model?.declaredApi;
  const record = visit ? localRecord(visit) : null;
  return {
    model,
    visit,
    dial: visit ? readCertificateDial(visit, 'api', 'link:node-api') : null,
    withoutCertificate: visit ? readDial(visit, 'api', 'link:node-api') : null,
    drifted: drift(visit?.sections?.env?.GPUAAS_API_URL, declared),
    local: currentReason(record),
    node,
  };
}

function shown(known: Known): Evidence[] {
  const { model, visit, dial } = known;
  return [
    ...(model
      ? [
          evidence('read_model', 'api', {
            agent_status: model.agentStatus,
            reason: model.reason,
            user_state: model.userState,
            evidence: model.evidence,
          }),
        ]
      : []),
    ...(dial
      ? [
          evidence('auth_answer', 'node', {
            status: dial.status,
            product: dial.product,
            alert: dial.alert,
            asks_for_certificate: dial.asksForCertificate,
            body: dial.body.slice(0, 300),
          }),
        ]
      : []),
    ...(visit?.sections?.files ? [evidence('identity_files', 'node', visit.sections.files)] : []),
    ...(known.drifted ? [evidence('endpoint_profile_drift', 'node', known.drifted)] : []),
    ...(known.local ? [evidence('local_reason', 'node', known.local)] : []),
  ];
}

const blamed = (cause: string): string =>
  cause.startsWith('clock_')
    ? 'clock'
    : cause === 'endpoint_profile_drift'
      ? 'link:node-api'
      : cause === 'edge_rate_limited'
        ? 'edge'
        : cause === 'recovery_enrollment_blocked'
          ? 'file:ca-bundle'
          : 'file:node-cert';

export const nodeRecoveryStatus: HopDeclaration<Session> = {
  id: 'node_recovery_status',
  title: 'The API accepts the identity of the node: certificate, profile, trust, rate',
  section: 'node identity and recovery status',
  vantage: 'node_as_agent',
  after: [],
  explainedBy: ['node_readiness', 'node_runtime_api_reachability'],
  signals: ['node_agent_auth_failed', 'edge_rate_limited'],
  deadlineMs: (policies) => Math.max(visitSeconds(policies), publicSeconds) * 1000 + 500,
  skip: (request) =>
    text(request, 'node-host') === undefined &&
    !(text(request, 'api-base') !== undefined && hasOperator(request))
      ? 'neither --node-host nor an operator token'
      : null,
  run: async (session) => {
    const known = await gather(session);
    const facts = {
      target: known.dial?.url ?? null,
      steps: known.dial?.steps ?? [],
      evidence: shown(known),
    };
    const found = causeOf(known);
    if (found) {
      const signal =
        found.cause === 'edge_rate_limited' ? 'edge_rate_limited' : 'node_agent_auth_failed';
      return {
        ...facts,
        status: 'fail',
        signal,
        cause: found.cause,
        blames: blamed(found.cause),
        summary: `${found.cause} (${found.by})`,
      };
    }
    return withWord(session, 'node_recovery_status', { ...facts, ...unrefused(session, known) });
  },
};

/** Nothing speaks against the identity; whether something speaks for it is another question. */
function unrefused(session: Session, known: Known): Finding {
  const { dial, model, visit } = known;
  const asksApi = text(session.request, 'api-base') !== undefined && hasOperator(session.request);
  if (asksApi && model === null)
    return { status: 'unknown', summary: 'the API did not tell the state of the node' };
  if (dial?.outcome === 'answered' && dial.status !== null && dial.status < 400) {
    const differs = known.drifted
      ? `; the agent uses ${known.drifted.effective}, declared is ${known.drifted.declared}`
      : '';
    return {
      status: known.drifted ? 'warn' : 'pass',
      summary: `accepted with the certificate: ${dial.status} from ${dial.product ?? 'an unnamed server'}${differs}`,
    };
  }
  const missing = visit ? withoutNode(visit) : null;
  if (model?.agentStatus === 'healthy' && !model.stale)
    return {
      status: 'pass',
      vantage: 'control_plane',
      summary: `the API says healthy${missing ? `; ${missing.summary}` : ''}`,
    };
  return (
    missing ?? {
      status: 'unknown',
      summary: `no answer to the certificate: ${dial?.summary ?? known.withoutCertificate?.summary ?? 'not asked'}`,
    }
  );
}
